"""A client's choice of provider, model and effort for a session (contract §3.5 runtime, §5.2 step 3; decisions D17).

Pure: from record and choice to the next record. What was chosen is met exactly or refused later, when the agent says
what it offers.
"""

from collections.abc import Mapping

import msgspec

from compozy.config.builtin_providers import canonical_provider
from compozy.config.config import Config
from compozy.config.openai_compatible import is_openai_compatible
from compozy.config.redaction import Redactor
from compozy.model.definition import REASONING_EFFORTS
from compozy.model.errors import Conflict, InvalidRequest
from compozy.model.provider import Provider
from compozy.model.session import EffectiveRuntime, RuntimeSelection
from compozy.runtime.sessions.commands import stored_command
from compozy.runtime.sessions.journal import change_runtime
from compozy.store.interface import SessionRecord


def read_choice(given: Mapping[str, object] | None, config: Config) -> RuntimeSelection | None:
    """Check a choice as it came from a client.

    Raises:
        InvalidRequest: an unknown provider, effort or speed.
    """
    if given is None:
        return None
    try:
        choice = msgspec.convert(dict(given), RuntimeSelection)
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"runtime: {error}; correct it and send it again") from error
    provider = config.providers.get(canonical_provider(choice.provider.strip()))
    if provider is None:
        known = ", ".join(sorted(config.providers))
        raise InvalidRequest(
            f"provider {choice.provider!r} is unknown: choose one of {known}", code="provider_unknown"
        )
    if choice.reasoning_effort and choice.reasoning_effort not in REASONING_EFFORTS:
        raise InvalidRequest(
            f"reasoning_effort {choice.reasoning_effort!r} must be one of {', '.join(REASONING_EFFORTS)}"
        )
    return msgspec.structs.replace(choice, provider=provider.id)


def changes_provider(record: SessionRecord, choice: RuntimeSelection) -> bool:
    """Whether the choice needs another agent program."""
    effective = record.session.runtime.effective
    return effective is None or effective.provider != choice.provider


def needs_new_start(record: SessionRecord, choice: RuntimeSelection, provider: Provider) -> bool:
    """Whether the agent of the same provider learns its model only when it is started."""
    return is_openai_compatible(provider) and choice.model not in ("", record.model)


def with_choice(record: SessionRecord, choice: RuntimeSelection, config: Config, redactor: Redactor) -> SessionRecord:
    """Return the record whose profile follows the choice; the same record when nothing differs."""
    if record.session.runtime.selected == choice:
        return record
    provider = config.providers[choice.provider]
    switched = changes_provider(record, choice)
    model, source = (choice.model, "prompt") if choice.model else (record.model, record.model_source)
    if switched and not choice.model:
        model, source = provider.default_model, "provider_default"
    effort, effort_source = record.reasoning_effort, record.effort_source
    if choice.reasoning_effort:
        effort, effort_source = choice.reasoning_effort, "prompt"
    elif switched or choice.model:
        effort, effort_source = "", ""
    record = msgspec.structs.replace(
        record,
        command=stored_command(provider.command, redactor) if switched else record.command,
        model=model,
        model_source=source,
        reasoning_effort=effort,
        effort_source=effort_source,
        resume_session_id="" if switched else record.resume_session_id,
    )
    return change_runtime(
        record,
        selected=choice,
        effective=EffectiveRuntime(provider=provider.id, model=model, reasoning_effort=effort),
        selection_revision=record.session.runtime.selection_revision + 1,
    )


def check_revision(record: SessionRecord, expected: int | None) -> None:
    """Refuse a change that was decided on an older choice.

    Raises:
        Conflict: the revision differs.
    """
    present = record.session.runtime.selection_revision
    if expected is not None and expected != present:
        raise Conflict(
            f"expected_revision {expected} is not the present one ({present}): read the session again",
            code="runtime_revision_stale",
        )
