"""Reading answers of agents that leave out, rename or mistype what they say."""

import msgspec
import pytest

from compozy.acp.answers import (
    read_initialize,
    read_number,
    read_permission,
    read_prompt_outcome,
    read_session_options,
    read_terminal_request,
)
from compozy.acp.contract import AgentProtocolError, SessionMode, SessionOptions
from compozy.model.session import ConfigOption, ConfigOptionValue


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def test_initialize_reads_capabilities_given_as_true_or_as_objects() -> None:
    info = read_initialize(
        raw(
            {
                "protocolVersion": 1,
                "agentCapabilities": {
                    "loadSession": True,
                    "promptCapabilities": {"image": True, "audio": False},
                    "sessionCapabilities": {"resume": {}, "close": None},
                },
                "agentInfo": {"name": "a", "version": "1.2"},
                "authMethods": [{"id": "login", "name": "Sign in"}],
            }
        )
    )
    assert (info.load_session, info.resume_session, info.close_session) == (True, True, False)
    assert (info.prompt_image, info.prompt_audio, info.prompt_embedded_context) == (True, False, False)
    assert (info.name, info.version, info.auth_methods) == ("a", "1.2", ("login",))


@pytest.mark.parametrize("body", [{"protocolVersion": 1}, {"protocolVersion": "1", "agentCapabilities": None}])
def test_an_agent_that_says_only_its_version_can_be_used(body: dict[str, object]) -> None:
    assert read_initialize(raw(body)).load_session is False


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"protocolVersion": 2}, "version 2"),
        ({"protocolVersion": 0}, "version 0"),
        ({"protocolVersion": True}, "version True"),
        ({}, "no version"),
        (None, "no version"),
    ],
)
def test_another_version_is_refused_in_a_sentence(body: object, said: str) -> None:
    with pytest.raises(AgentProtocolError, match=f"{said}, compozy speaks 1: use another version"):
        read_initialize(raw(body))


def test_session_options_are_read_from_all_three_kinds_of_agents() -> None:
    options = read_session_options(
        raw(
            {
                "sessionId": "s",
                "modes": {"availableModes": [{"id": "https://x/agent", "name": "Agent"}], "currentModeId": "ask"},
                "models": {"availableModels": [{"modelId": "m1"}, {"modelId": "m2"}], "currentModelId": "m1"},
                "configOptions": [
                    {
                        "id": "model",
                        "type": "select",
                        "category": "model",
                        "name": "Model",
                        "currentValue": "a",
                        "options": [{"group": "g", "options": [{"value": "a", "name": "A"}]}, {"value": "b"}],
                    },
                    {"id": "fast", "type": "boolean", "currentValue": True},
                    {"id": "odd", "type": "slider", "currentValue": 3, "category": "thinking"},
                    {"name": "no id"},
                    "junk",
                ],
            }
        )
    )
    assert options == SessionOptions(
        session_id="s",
        modes=(SessionMode(id="https://x/agent", name="Agent"),),
        current_mode="ask",
        config_options=(
            ConfigOption(
                id="model",
                kind="select",
                label="Model",
                current="a",
                values=(ConfigOptionValue(value="a", label="A"), ConfigOptionValue(value="b")),
            ),
            ConfigOption(id="fast", kind="boolean", current="true"),
            ConfigOption(id="odd", kind="slider", current="3"),
        ),
        option_categories={"model": "model", "odd": "thinking"},
        legacy_models=("m1", "m2"),
        legacy_current_model="m1",
    )


def test_an_answer_replaces_the_part_it_names_and_leaves_the_others() -> None:
    known = SessionOptions(
        session_id="s", current_mode="ask", config_options=(ConfigOption(id="effort", kind="select", current="low"),)
    )
    assert read_session_options(raw(None), known) == known
    replaced = read_session_options(raw({"configOptions": []}), known)
    assert (replaced.config_options, replaced.current_mode) == ((), "ask")


def test_a_new_session_without_id_is_an_error() -> None:
    with pytest.raises(AgentProtocolError, match="without a session id"):
        read_session_options(raw({}))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"stopReason": "end_turn"}, "end_turn"),
        ({"stopReason": "error"}, "error"),
        ({"stopReason": None}, "end_turn"),
        (None, "end_turn"),
    ],
)
def test_the_stop_reason_is_the_word_of_the_agent(body: object, reason: str) -> None:
    assert read_prompt_outcome(raw(body)).stop_reason == reason


def test_a_permission_request_may_lack_everything_but_its_session() -> None:
    request = read_permission(
        raw({"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": [{"optionId": "o"}]})
    )
    assert (request.session_id, request.tool_call_id, request.title, request.kind) == ("s", "t", "", "")
    assert [(option.option_id, option.kind) for option in request.options] == [("o", "")]


@pytest.mark.parametrize("name", ["request_id", "requestId", "id"])
def test_the_request_id_in_meta_is_read_under_its_three_names(name: str) -> None:
    request = read_permission(
        raw({"sessionId": "s", "_meta": {name: "r-1"}, "toolCall": {"locations": [{"path": "/a"}, {"path": "/b"}]}})
    )
    assert (request.meta_request_id, request.locations) == ("r-1", ("/a", "/b"))


def test_a_terminal_request_with_odd_fields_keeps_the_usable_ones() -> None:
    request = read_terminal_request(
        raw(
            {
                "sessionId": "s",
                "command": "ls",
                "args": ["-l", 3],
                "env": [{"name": "A", "value": "1"}, {"name": "", "value": "x"}, {"value": "y"}],
                "cwd": None,
                "outputByteLimit": None,
            }
        )
    )
    assert (request.args, request.env, request.cwd, request.output_byte_limit) == (("-l", "3"), {"A": "1"}, "", None)


@pytest.mark.parametrize(("value", "number"), [(3, 3), (3.0, 3), (0, 0), (-1, None), (True, None), ("3", None)])
def test_a_line_number_is_a_whole_number_or_none(value: object, number: int | None) -> None:
    assert read_number({"line": value}, "line") == number
