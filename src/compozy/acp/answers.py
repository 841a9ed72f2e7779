"""Read what agents answer, leniently: a field that is missing or of another type costs that field, not the session.

Pure functions from JSON text to the records of the seam; knows no connection. Real agents disagree in most optional
fields (spec/acp.md, table and fault groups 10 and 13); only what a session cannot do without is an error.
"""

from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from compozy.acp.contract import (
    AgentInfo,
    AgentProtocolError,
    ElicitationField,
    ElicitationRequest,
    PermissionOption,
    PermissionRequest,
    PromptOutcome,
    SessionMode,
    SessionOptions,
    TerminalRequest,
)
from compozy.model.session import ConfigOption, ConfigOptionValue

PROTOCOL_VERSION = 1


def read_object(raw: msgspec.Raw) -> dict[str, object]:
    """Return a JSON object, empty when the text is none."""
    try:
        value: object = msgspec.json.decode(raw) if raw else None
    except (msgspec.MsgspecError, RecursionError):
        return {}
    return _object(value)


def _object(value: object) -> dict[str, object]:
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def _objects(value: object) -> Iterator[dict[str, object]]:
    return (_object(item) for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _has(value: object) -> bool:
    """Tell whether a capability is offered: `true`, or an object, which is how ACP marks session capabilities."""
    return value is True or isinstance(value, dict)


def read_initialize(raw: msgspec.Raw) -> AgentInfo:
    """Read the answer to `initialize`.

    Raises:
        AgentProtocolError: the agent speaks another version, or the answer is no initialize answer.
    """
    body = read_object(raw)
    version = body.get("protocolVersion")
    if isinstance(version, str) and version.isdigit():
        version = int(version)
    if isinstance(version, bool) or version != PROTOCOL_VERSION:
        said = f"version {version!r}" if "protocolVersion" in body else "no version"
        raise AgentProtocolError(
            f"the agent answered ACP {said}, compozy speaks {PROTOCOL_VERSION}: use another version of the agent"
        )
    capabilities = _object(body.get("agentCapabilities"))
    session = _object(capabilities.get("sessionCapabilities"))
    prompt = _object(capabilities.get("promptCapabilities"))
    info = _object(body.get("agentInfo"))
    return AgentInfo(
        protocol_version=PROTOCOL_VERSION,
        load_session=_has(capabilities.get("loadSession")),
        resume_session=_has(session.get("resume")),
        close_session=_has(session.get("close")),
        prompt_image=prompt.get("image") is True,
        prompt_audio=prompt.get("audio") is True,
        prompt_embedded_context=prompt.get("embeddedContext") is True,
        additional_directories=_has(session.get("additionalDirectories")),
        name=_text(info.get("name")),
        version=_text(info.get("version")),
        auth_methods=tuple(_text(method.get("id")) for method in _objects(body.get("authMethods"))),
    )


def read_session_options(raw: msgspec.Raw, known: SessionOptions | None = None) -> SessionOptions:
    """Read the answer to `session/new`, `load`, `resume` or `set_config_option`, or an update that changes options.

    Parts that the answer leaves out (a null answer leaves out all) stay as `known` has them.

    Raises:
        AgentProtocolError: no session id where none is known.
    """
    body = read_object(raw)
    known = known or SessionOptions(session_id=read_text(body, "sessionId"))
    if not known.session_id:
        raise AgentProtocolError("the agent answered session/new without a session id")
    if "modes" in body:
        modes = _object(body["modes"])
        known = replace(
            known,
            modes=tuple(
                SessionMode(id=read_text(mode, "id"), name=read_text(mode, "name"))
                for mode in _objects(modes.get("availableModes"))
            ),
            current_mode=read_text(modes, "currentModeId"),
        )
    if "models" in body:
        models = _object(body["models"])
        ids = tuple(read_text(model, "modelId") for model in _objects(models.get("availableModels")))
        known = replace(known, legacy_models=ids, legacy_current_model=read_text(models, "currentModelId"))
    if "configOptions" in body:
        options, categories = read_config_options(body)
        known = replace(known, config_options=options, option_categories=categories)
    return known


def choose_option(known: SessionOptions, option_id: str, value: str | bool) -> SessionOptions:
    """Return the options with one value chosen: for agents that accept a choice without telling the result."""
    options = tuple(
        replace(option, current=_value(value)) if option.id == option_id else option
        for option in known.config_options
    )
    return replace(known, config_options=options)


def read_mode_update(raw: msgspec.Raw, known: SessionOptions) -> SessionOptions:
    """Read a `current_mode_update`."""
    mode = read_text(read_object(raw), "currentModeId")
    return replace(known, current_mode=mode) if mode else known


def read_config_options(body: Mapping[str, object]) -> tuple[tuple[ConfigOption, ...], dict[str, str]]:
    """Read `configOptions` of an answer or of a `config_option_update`: the options and their categories."""
    options: list[ConfigOption] = []
    categories: dict[str, str] = {}
    for raw in _objects(body.get("configOptions")):
        option_id = _text(raw.get("id"))
        if not option_id:
            continue
        options.append(
            ConfigOption(
                id=option_id,
                kind=_text(raw.get("type")),
                label=_text(raw.get("name")),
                description=_text(raw.get("description")),
                current=_value(raw.get("currentValue")),
                values=tuple(_option_values(raw.get("options"))),
            )
        )
        if category := _text(raw.get("category")):
            categories[option_id] = category
    return tuple(options), categories


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or isinstance(value, dict | list) else str(value)


def _option_values(options: object) -> Iterator[ConfigOptionValue]:
    for item in _objects(options):
        if "value" in item:
            yield ConfigOptionValue(
                value=_value(item.get("value")),
                label=_text(item.get("name")),
                description=_text(item.get("description")),
            )
        else:
            # A group of values: the group is only for the eye.
            yield from _option_values(item.get("options"))


def read_prompt_outcome(raw: msgspec.Raw) -> PromptOutcome:
    """Read the answer to `session/prompt`; an answer that names no reason ended the turn all the same."""
    body = read_object(raw)
    usage = body.get("usage")
    return PromptOutcome(
        stop_reason=_text(body.get("stopReason")) or "end_turn",
        usage=_object(usage) if isinstance(usage, dict) else None,
        raw=raw,
    )


def read_permission(raw: msgspec.Raw) -> PermissionRequest:
    """Read `session/request_permission`; everything but the session may be missing (seen: vibe, gemini)."""
    body = read_object(raw)
    tool_call = _object(body.get("toolCall"))
    meta = _object(body.get("_meta"))
    request_ids = (_value(meta.get(name)) for name in ("request_id", "requestId", "id"))
    return PermissionRequest(
        session_id=_text(body.get("sessionId")),
        options=tuple(
            PermissionOption(
                option_id=_text(option.get("optionId")),
                name=_text(option.get("name")),
                kind=_text(option.get("kind")),
            )
            for option in _objects(body.get("options"))
        ),
        raw=raw,
        tool_call_id=_text(tool_call.get("toolCallId")),
        title=_text(tool_call.get("title")),
        kind=_text(tool_call.get("kind")),
        locations=tuple(_text(place.get("path")) for place in _objects(tool_call.get("locations"))),
        meta_request_id=next((request_id for request_id in request_ids if request_id), ""),
    )


def read_elicitation(raw: msgspec.Raw) -> ElicitationRequest:
    """Read `elicitation/create`; the fields of a form in the order the agent wrote them."""
    body = read_object(raw)
    properties = _object(_object(body.get("requestedSchema")).get("properties"))
    return ElicitationRequest(
        session_id=_text(body.get("sessionId")),
        message=_text(body.get("message")),
        fields=tuple(_elicited(name, _object(schema)) for name, schema in properties.items()),
    )


def _elicited(name: str, schema: dict[str, object]) -> ElicitationField:
    kind = _text(schema.get("type"))
    options = schema.get("enum")
    values = [_text(value) for value in options] if isinstance(options, list) else []
    values = values or [_text(option.get("const")) for option in _objects(schema.get("oneOf"))]
    if kind == "boolean":
        values = ["yes", "no"]
    title = _text(schema.get("title")) or _text(schema.get("description"))
    return ElicitationField(name=name, kind=kind, title=title, choices=tuple(value for value in values if value))


def read_terminal_request(raw: msgspec.Raw) -> TerminalRequest:
    """Read `terminal/create`."""
    body = read_object(raw)
    args, limit = body.get("args"), body.get("outputByteLimit")
    return TerminalRequest(
        session_id=_text(body.get("sessionId")),
        command=_text(body.get("command")),
        args=tuple(str(arg) for arg in args) if isinstance(args, list) else (),
        env={_text(v.get("name")): _value(v.get("value")) for v in _objects(body.get("env")) if _text(v.get("name"))},
        cwd=_text(body.get("cwd")),
        output_byte_limit=limit if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0 else None,
    )


def read_text(body: Mapping[str, object], name: str) -> str:
    """Return a text member, "" when it is missing."""
    return _text(body.get(name))


def read_number(body: Mapping[str, object], name: str) -> int | None:
    """Return a whole non-negative number, None when it is missing or something else."""
    value = body.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
