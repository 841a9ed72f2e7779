"""Agreeing with an agent on mode, model and effort (contract §5.4; decisions D17)."""

from typing import cast

import pytest

from compozy.acp.contract import AgentConnection, AgentError, SessionMode, SessionOptions
from compozy.model.errors import Unprocessable
from compozy.model.provider import Provider
from compozy.model.session import ConfigOption, ConfigOptionValue, Speed
from compozy.runtime.sessions.negotiation import Wish, negotiate, pick_mode

pytestmark = pytest.mark.anyio

HOUSE = Provider(id="house", command="h", reasoning_apply="acp_option")


class Recorder:
    """Answers set_* like an agent and remembers them."""

    def __init__(self, after: SessionOptions, *, refuse_mode: bool = False) -> None:
        self.calls: list[tuple[str, ...]] = []
        self._after = after
        self._refuse_mode = refuse_mode

    async def set_mode(self, session_id: str, mode_id: str, *, timeout: float) -> None:
        self.calls.append(("mode", mode_id))
        if self._refuse_mode:
            raise AgentError("session/set_mode", -32602, "no")

    async def set_config_option(
        self, session_id: str, option_id: str, value: str | bool, *, timeout: float
    ) -> SessionOptions:
        self.calls.append((option_id, str(value)))
        return self._after

    def options(self, session_id: str) -> SessionOptions:
        return self._after

    async def set_model(self, session_id: str, model_id: str, *, timeout: float) -> None:
        self.calls.append(("set_model", model_id))


def _select(option_id: str, *values: str, current: str = "") -> ConfigOption:
    return ConfigOption(
        id=option_id, kind="select", current=current, values=tuple(ConfigOptionValue(value=v) for v in values)
    )


def _options(
    *options: ConfigOption, modes: tuple[str, ...] = (), mode: str = "", models: tuple[str, ...] = ()
) -> SessionOptions:
    return SessionOptions(
        session_id="s",
        modes=tuple(SessionMode(id=name) for name in modes),
        current_mode=mode,
        config_options=options,
        legacy_models=models,
    )


async def _agree(
    options: SessionOptions, wish: Wish, provider: Provider = HOUSE
) -> tuple[list[tuple[str, ...]], list[str]]:
    agent = Recorder(options)
    agreement = await negotiate(cast(AgentConnection, agent), options, wish, provider)
    return agent.calls, agreement.notes


@pytest.mark.parametrize(
    ("permission", "modes", "expected"),
    [
        ("approve-all", ("default", "BypassPermissions"), "BypassPermissions"),
        ("approve-all", ("agent", "auto"), "agent"),
        ("approve-reads", ("plan", "Default"), "Default"),
        ("deny-all", ("plan", "read-only"), "read-only"),
        ("deny-all", ("agent",), ""),
    ],
)
def test_a_permission_mode_picks_the_agents_mode(permission: str, modes: tuple[str, ...], expected: str) -> None:
    assert pick_mode(permission, modes) == expected


async def test_a_mode_is_set_only_when_it_differs_and_a_refusal_is_a_note() -> None:
    options = _options(modes=("default", "agent"), mode="default")
    wish = Wish(permission_mode="approve-reads")
    assert await _agree(options, wish) == ([], [])
    agent = Recorder(options, refuse_mode=True)
    agreement = await negotiate(cast(AgentConnection, agent), options, Wish(permission_mode="approve-all"), HOUSE)
    assert agent.calls == [("mode", "agent")] and len(agreement.notes) == 1


async def test_a_chosen_model_is_set_even_when_it_is_current() -> None:
    options = _options(_select("model", "a", "b", current="b"))
    calls, _ = await _agree(options, Wish(permission_mode="deny-all", model="b", model_explicit=True))
    assert calls == [("model", "b")]


@pytest.mark.parametrize("explicit", [True, False])
async def test_a_model_that_is_not_on_offer_is_refused_wherever_it_comes_from(explicit: bool) -> None:
    options = _options(_select("model", "a"))
    with pytest.raises(Unprocessable) as refused:
        await _agree(options, Wish(permission_mode="deny-all", model="x", model_explicit=explicit))
    assert refused.value.code == "model_unavailable"
    assert refused.value.evidence["valid_choices"] == ["a"]


async def test_without_a_model_option_a_default_gives_way_and_a_choice_does_not() -> None:
    calls, notes = await _agree(_options(), Wish(permission_mode="deny-all", model="m"))
    assert calls == [] and len(notes) == 1
    with pytest.raises(Unprocessable):
        await _agree(_options(), Wish(permission_mode="deny-all", model="m", model_explicit=True))


async def test_agents_that_still_list_models_are_asked_their_way() -> None:
    calls, _ = await _agree(_options(models=("m",)), Wish(permission_mode="deny-all", model="m"))
    assert calls == [("set_model", "m")]


async def test_the_claude_names_are_used_only_when_the_exact_id_is_not_offered() -> None:
    claude = Provider(id="claude", command="c", reasoning_apply="acp_option")
    wish = Wish(permission_mode="deny-all", model="claude-sonnet-5")
    calls, notes = await _agree(_options(_select("model", "sonnet")), wish, claude)
    assert calls == [("model", "sonnet")] and len(notes) == 1
    calls, notes = await _agree(_options(_select("model", "sonnet", "claude-sonnet-5")), wish, claude)
    assert calls == [("model", "claude-sonnet-5")] and notes == []


async def test_effort_is_set_when_it_differs_and_refused_when_it_cannot_be() -> None:
    options = _options(_select("effort", "low", "high", current="low"))
    assert (await _agree(options, Wish(permission_mode="deny-all", effort="high")))[0] == [("effort", "high")]
    assert (await _agree(options, Wish(permission_mode="deny-all", effort="low")))[0] == []
    with pytest.raises(Unprocessable) as refused:
        await _agree(options, Wish(permission_mode="deny-all", effort="max", effort_explicit=True))
    assert refused.value.code == "reasoning_effort_unsupported"
    with pytest.raises(Unprocessable) as missing:
        await _agree(_options(), Wish(permission_mode="deny-all", effort="low", effort_explicit=True))
    assert missing.value.code == "reasoning_option_missing"


async def test_a_default_effort_that_is_not_on_offer_gives_way() -> None:
    options = _options(_select("effort", "low", "high", current="low"))
    calls, notes = await _agree(options, Wish(permission_mode="deny-all", effort="max"))
    assert calls == [] and "max" in notes[0]


@pytest.mark.parametrize(
    ("options", "speed", "calls", "reason"),
    [
        ((), "fast", [], "capability_absent"),
        ((_select("speed", "fast", "normal"),), "fast", [("speed", "fast")], None),
        ((_select("speed", "fast", "normal", current="fast"),), "fast", [], None),
        ((_select("service-tier", "Standard", "priority"),), "normal", [("service-tier", "Standard")], None),
        ((_select("speed", "standard", "default"),), "normal", [], "value_ambiguous"),
        ((_select("speed", "slow"),), "fast", [], "value_ambiguous"),
        ((_select("speed", "fast"), _select("service_tier", "fast")), "fast", [], "capability_ambiguous"),
        ((ConfigOption(id="speed", kind="boolean"),), "fast", [], "capability_absent"),
    ],
)
async def test_a_speed_is_set_by_an_unambiguous_option_only(
    options: tuple[ConfigOption, ...], speed: Speed, calls: list[tuple[str, ...]], reason: str | None
) -> None:
    offered = _options(*options)
    agent = Recorder(offered)
    wish = Wish(permission_mode="deny-all", speed=speed)
    agreement = await negotiate(cast(AgentConnection, agent), offered, wish, HOUSE)
    assert agent.calls == calls
    assert agreement.speed is not None and agreement.speed.requested == speed
    assert agreement.speed.reason == reason
    assert agreement.speed.status == ("unsupported" if reason else "applied")
    assert bool(agreement.notes) is bool(reason)
