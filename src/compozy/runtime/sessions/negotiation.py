"""Agreeing with an agent on mode, model, effort and speed after `session/new` (contract §5.4 steps 4–7; D17).

What a person or an author chose is applied exactly or the bind fails; what only a provider's default says may be
left out, with a `system` event. Options are replaced by every answer, never merged: an effort is chosen from what the
agent offers for the model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from compozy.acp.contract import AgentConnection, AgentError, SessionOptions
from compozy.config.openai_compatible import MODEL_PREFIX, is_openai_compatible
from compozy.model.errors import Unprocessable
from compozy.model.provider import Provider
from compozy.model.session import ConfigOption, Speed, SpeedResolution
from compozy.runtime.sessions.speed import speed_option

# Bound of each set_* request: they change a variable in the agent.
SET_SECONDS = 30.0

# First match wins, compared without case (contract §5.4 step 4).
_WIDE_MODES = (
    "agent",
    "full-access",
    "full_access",
    "bypassPermissions",
    "bypass_permissions",
    "auto",
    "acceptEdits",
)
_ASKING_MODES = ("default", "ask", "read-only", "read_only", "readOnly", "plan")

# What the claude adapter calls the models of its catalog, used only when the exact id is not advertised (D17).
_CLAUDE_OPTION_VALUES = {
    "claude-sonnet-5": "sonnet",
    "claude-opus-4-8": "opus[1m]",
    "claude-haiku-4-5-20251001": "haiku",
}


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What the session should run with; `explicit` values come from the author or the user, not from a default."""

    permission_mode: str
    model: str = ""
    model_explicit: bool = False
    effort: str = ""
    effort_explicit: bool = False
    speed: Speed | None = None


@dataclass(kw_only=True)
class Agreement:
    """The result: the agent's newest options, what is in force, and notes that become `system` events."""

    options: SessionOptions
    model: str = ""
    effort: str = ""
    speed: SpeedResolution | None = None
    notes: list[str] = field(default_factory=list)


def refusal(
    code: str, message: str, *, stage: str, requested: str, option: str, valid: Sequence[str]
) -> Unprocessable:
    """Return the negotiation error of contract §3.1."""
    evidence: dict[str, object] = {"stage": stage, "requested": requested, "valid_choices": list(valid)}
    if option:
        evidence["config_option_id"] = option
    return Unprocessable(
        message,
        code=code,
        category="provider",
        evidence=evidence,
        diagnostic=True,
        diagnostic_id=f"provider.negotiation.{code}",
    )


def pick_mode(mode: str, offered: Sequence[str]) -> str:
    """Return the agent's mode that fits the permission mode, "" when none does."""
    by_folded = {name.casefold(): name for name in reversed(offered)}
    wanted = _WIDE_MODES if mode == "approve-all" else _ASKING_MODES
    return next((by_folded[c.casefold()] for c in wanted if c.casefold() in by_folded), "")


def find_option(options: SessionOptions, names: Sequence[str], category: str) -> ConfigOption | None:
    """Return the select option with one of the ids, else the one of the category."""
    selects = [option for option in options.config_options if option.kind == "select"]
    for name in names:
        for option in selects:
            if option.id == name:
                return option
    return next((o for o in selects if options.option_categories.get(o.id) == category), None)


async def negotiate(
    connection: AgentConnection, options: SessionOptions, wish: Wish, provider: Provider
) -> Agreement:
    """Set mode, model, effort and speed, in this order.

    Raises:
        Unprocessable: a chosen value is not on offer.
        AgentError, AgentDied, AgentTimeout: the agent failed to answer.
    """
    agreement = Agreement(options=options)
    await _set_mode(connection, agreement, wish.permission_mode)
    await _set_model(connection, agreement, wish, provider)
    await _set_effort(connection, agreement, wish, provider)
    await _set_speed(connection, agreement, wish)
    return agreement


def check_before_launch(wish: Wish, provider: Provider) -> None:
    """Refuse what no agent of the provider can be asked for.

    Raises:
        Unprocessable: an effort was chosen, and the provider's settings offer none.
    """
    if wish.effort and wish.effort_explicit and provider.reasoning_apply == "none":
        raise _no_effort(wish.effort, provider, ())


def _no_effort(effort: str, provider: Provider, offered: Sequence[ConfigOption]) -> Unprocessable:
    error = refusal(
        "reasoning_option_missing",
        f"reasoning effort {effort!r} cannot be set: {provider.id!r} offers no such option; leave it out",
        stage="reasoning_effort",
        requested=effort,
        option="",
        valid=(),
    )
    error.evidence["offered_options"] = [option.id for option in offered]
    return error


async def _set_mode(connection: AgentConnection, agreement: Agreement, permission_mode: str) -> None:
    options = agreement.options
    mode = pick_mode(permission_mode, [m.id for m in options.modes])
    if not mode:
        return
    option = find_option(options, ("mode",), "mode")
    current = option.current if option is not None else options.current_mode
    if mode == current:
        return
    try:
        await connection.set_mode(options.session_id, mode, timeout=SET_SECONDS)
    except AgentError as error:
        agreement.notes.append(f"the agent refused mode {mode!r}: {error.rpc_message}")
        return
    agreement.options = connection.options(options.session_id)


async def _set_model(connection: AgentConnection, agreement: Agreement, wish: Wish, provider: Provider) -> None:
    if not wish.model:
        return
    options = agreement.options
    option = find_option(options, ("model",), "model")
    if option is None and options.legacy_models:
        await _set_legacy_model(connection, agreement, wish)
        return
    if option is None:
        if wish.model_explicit:
            raise _no_model(wish.model, "", ())
        agreement.notes.append(
            f"the agent offers no choice of model: the provider's default {wish.model!r} is not set"
        )
        return
    values = [value.value for value in option.values]
    value = wish.model
    mapped = _CLAUDE_OPTION_VALUES.get(value, "") if provider.id == "claude" else ""
    if is_openai_compatible(provider) and f"{MODEL_PREFIX}{value}" in values:
        # The agent was started for exactly this model and spells it with the kind of its endpoint.
        agreement.model = value
        return
    if value not in values and mapped in values:
        agreement.notes.append(f"model {value!r} is called {mapped!r} by the agent")
        value = mapped
    if value not in values:
        raise _no_model(wish.model, option.id, values)
    answer = await connection.set_config_option(options.session_id, option.id, value, timeout=SET_SECONDS)
    _replace(agreement, answer)
    agreement.model = wish.model


async def _set_legacy_model(connection: AgentConnection, agreement: Agreement, wish: Wish) -> None:
    options = agreement.options
    if wish.model not in options.legacy_models:
        raise _no_model(wish.model, "", options.legacy_models)
    await connection.set_model(options.session_id, wish.model, timeout=SET_SECONDS)
    # Some tell with a notification what is offered for the new model.
    agreement.options = connection.options(options.session_id)
    agreement.model = wish.model


def _no_model(model: str, option: str, values: Sequence[str]) -> Unprocessable:
    if values:
        message = (
            f"model {model!r} is not available: the agent offers {', '.join(values[:20])}; choose one of these or "
            "leave the model out"
        )
    else:
        message = f"model {model!r} is not available: the agent offers no choice of model; leave the model out"
    return refusal(
        "model_unavailable",
        message,
        stage="model",
        requested=model,
        option=option,
        valid=values,
    )


async def _set_effort(connection: AgentConnection, agreement: Agreement, wish: Wish, provider: Provider) -> None:
    if not wish.effort or (provider.reasoning_apply == "none" and not wish.effort_explicit):
        return
    options = agreement.options
    option = find_option(options, ("reasoning_effort", "effort"), "thought_level")
    if option is None or provider.reasoning_apply == "none":
        if not wish.effort_explicit:
            agreement.notes.append(f"the agent offers no choice of effort: the default {wish.effort!r} is not set")
            return
        raise _no_effort(wish.effort, provider, options.config_options)
    values = [value.value for value in option.values]
    if wish.effort not in values and not wish.effort_explicit:
        agreement.notes.append(f"the agent offers no effort {wish.effort!r}: the model's default is not set")
        return
    if wish.effort not in values:
        raise refusal(
            "reasoning_effort_unsupported",
            f"reasoning effort {wish.effort!r} is not on offer: choose one of {', '.join(values)}",
            stage="reasoning_effort",
            requested=wish.effort,
            option=option.id,
            valid=values,
        )
    if option.current != wish.effort:
        answer = await connection.set_config_option(options.session_id, option.id, wish.effort, timeout=SET_SECONDS)
        _replace(agreement, answer)
    agreement.effort = wish.effort


async def _set_speed(connection: AgentConnection, agreement: Agreement, wish: Wish) -> None:
    if wish.speed is None:
        return
    found = speed_option(agreement.options, wish.speed)
    if isinstance(found, SpeedResolution):
        agreement.speed = found
        agreement.notes.append(f"speed {wish.speed!r} is not set: {found.reason}")
        return
    option, value = found
    if option.current != value:
        try:
            answer = await connection.set_config_option(
                agreement.options.session_id, option.id, value, timeout=SET_SECONDS
            )
        except AgentError as error:
            raise refusal(
                "speed_rejected",
                f"the agent refused speed {wish.speed!r}: {error.rpc_message}; leave it out",
                stage="speed",
                requested=wish.speed,
                option=option.id,
                valid=[offered.value for offered in option.values],
            ) from error
        _replace(agreement, answer)
    agreement.speed = SpeedResolution(requested=wish.speed, status="applied")


def _replace(agreement: Agreement, answer: SessionOptions) -> None:
    # The answer to a set_* call speaks of options only; modes stay what session/new said.
    known = agreement.options
    agreement.options = msgspec.structs.replace(
        known, config_options=answer.config_options, option_categories=answer.option_categories
    )
