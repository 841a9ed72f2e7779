"""The policy over every combination of its layers (contract §6.3), and what single layers say."""

from itertools import product

import pytest

from compozy.model.tool import ToolDecision, ToolDescriptor
from compozy.tools.ids import Patterns
from compozy.tools.policy import LAYER_NAMES, LAYERS, Moment, PolicyContext, decide
from tests.kit.tools import make_tool

_STOPS = {"denied", "disabled", "unavailable", "conflicted"}


def _layers(decision: ToolDecision) -> dict[str, str]:
    return {layer.layer: layer.result for layer in decision.layers}


def test_the_names_and_the_functions_of_the_layers_are_in_one_order() -> None:
    said = decide(PolicyContext(), make_tool("compozy__tool_list")).layers
    assert tuple(layer.layer for layer in said) == LAYER_NAMES
    assert len(LAYERS) == len(LAYER_NAMES) == 11


# Each layer in the states it can have: what the context, tool and moment are, the result, the reason code.
_ENABLED = ((True, "allowed", None), (False, "disabled", "source_disabled"))
_VISIBILITY = (("model", "allowed", None), ("session", "allowed", None), ("operator", "denied", "visibility_denied"))
_REGISTRY = (("", "allowed", None), ("mcp__*", "denied", "policy_denied"))
_AGENT_DENY = (("", "unrestricted", None), ("mcp__s__t", "denied", "policy_denied"))
_LINEAGE = (
    (None, "unrestricted", None),
    (("mcp__s__t",), "allowed", None),
    ((), "denied", "session_denied"),
)
_ALLOW = (
    ((), (), "unrestricted", None),
    ((), ("mcp__s__t",), "allowed", None),
    (("compozy__x",), (), "denied", "policy_denied"),
)
_SOURCE = (
    ("granted", "disabled", "allowed", None),
    ("", "enabled", "allowed", None),
    ("", "ask", "approval_required", "approval_required"),
    ("", "disabled", "disabled", "source_disabled"),
)
_MODE = (
    ("approve-all", "unrestricted", None),
    ("approve-reads", "approval_required", "approval_required"),
    ("deny-all", "approval_required", "approval_required"),
)
_PROBLEMS = (
    ((), "allowed", None),
    (("mcp_unreachable",), "unavailable", "mcp_unreachable"),
    (("conflicted_id",), "conflicted", "conflicted_id"),
)
_HOOK = (("", "unrestricted", None), ("allowed", "allowed", None), ("denied", "denied", "hook_denied"))
_ANSWER = (("", False), ("", True), ("allow", False), ("reject", True))


def test_the_first_denial_wins_in_every_combination_of_all_layers() -> None:
    met: set[tuple[str, ...]] = set()
    combinations = product(
        _ENABLED, _VISIBILITY, _REGISTRY, _AGENT_DENY, _LINEAGE, _ALLOW, _SOURCE, _MODE, _PROBLEMS, _HOOK, _ANSWER
    )
    for enabled, visibility, registry, deny, lineage, allow, source, mode, problems, hook, answer in combinations:
        grant, can_ask = answer
        tool = make_tool("mcp__s__t", kind="mcp", owner="s", risk="mutating", visibility=visibility[0])  # type: ignore[arg-type]
        context = PolicyContext(
            tools_enabled=enabled[0],
            registry_deny=Patterns.of([registry[0]] if registry[0] else ()),
            agent_deny=Patterns.of([deny[0]] if deny[0] else ()),
            lineage=None if lineage[0] is None else Patterns.of(lineage[0]),
            allow=Patterns.of(allow[0]),
            allow_toolsets=("x__set",) if allow[1] else (),
            allowed_members=frozenset(allow[1]),
            source_grants=frozenset({"mcp:s"} if source[0] else ()),
            external_default=source[1],  # type: ignore[arg-type]
            permission_mode=mode[0],
            can_ask=can_ask,
        )
        moment = Moment(problems=problems[0], hook=hook[0], grant=grant)  # type: ignore[arg-type]
        states = [
            (enabled[1], enabled[2]),
            (visibility[1], visibility[2]),
            (registry[1], registry[2]),
            (deny[1], deny[2]),
            (lineage[1], lineage[2]),
            (allow[2], allow[3]),
            (source[2], source[3]),
            (mode[1], mode[2]),
            (problems[1], problems[2]),
            (hook[1], hook[2]),
        ]
        asks = any(result == "approval_required" for result, _ in states)
        if grant == "reject":
            states.append(("denied", "policy_denied"))
        elif not asks:
            states.append(("unrestricted", None))
        elif grant == "allow":
            states.append(("allowed", None))
        elif can_ask:
            states.append(("approval_required", "approval_required"))
        else:
            states.append(("denied", "approval_unreachable"))
        stop = next((place for place, (result, _) in enumerate(states) if result in _STOPS), None)
        decision = decide(context, tool, moment)
        reached = states if stop is None else states[: stop + 1]
        assert tuple(layer.result for layer in decision.layers) == tuple(result for result, _ in reached)
        assert decision.callable is (stop is None)
        last_reason = reached[-1][1]
        assert decision.reason_codes == (() if last_reason is None else (last_reason,))
        assert decision.approval_required is (stop is None and reached[-1][0] == "approval_required")
        met.add(tuple(layer.result for layer in decision.layers))
    assert len(met) > 100, "the combinations differ"


_TOOL = make_tool("mcp__files__read", kind="mcp", owner="files")
_WRITE = make_tool("mcp__files__write", kind="mcp", owner="files", risk="mutating")


@pytest.mark.parametrize(
    ("context", "tool", "result"),
    [
        (PolicyContext(), _TOOL, "disabled"),
        (PolicyContext(source_grants=frozenset({"mcp:files"})), _WRITE, "allowed"),
        (PolicyContext(allow=Patterns.of(["mcp__files__*"])), _WRITE, "allowed"),
        (PolicyContext(trusted_sources=frozenset({"mcp:files"})), _TOOL, "trusted"),
        (PolicyContext(trusted_sources=frozenset({"mcp:files"})), _WRITE, "disabled"),
        (PolicyContext(trusted_sources=frozenset({"mcp:other"})), _TOOL, "disabled"),
        (PolicyContext(external_default="ask", can_ask=True), _TOOL, "approval_required"),
        (PolicyContext(external_default="enabled"), _WRITE, "allowed"),
        (PolicyContext(external_default="enabled"), make_tool("x__y", kind="dynamic"), "denied"),
        (PolicyContext(), make_tool("compozy__x"), "allowed"),
    ],
)
def test_a_source_is_judged_by_grant_allow_list_trust_and_default(
    context: PolicyContext, tool: ToolDescriptor, result: str
) -> None:
    assert decide(context, tool).source_policy_result == result


@pytest.mark.parametrize("risk", ["read", "mutating", "open_world", "destructive"])
@pytest.mark.parametrize("mode", ["approve-all", "approve-reads", "deny-all"])
def test_the_permission_mode_asks_for_what_is_no_plain_read(risk: str, mode: str) -> None:
    tool = make_tool("compozy__x", risk=risk)  # type: ignore[arg-type]
    decision = decide(PolicyContext(permission_mode=mode, can_ask=True), tool)
    asks = mode == "deny-all" or (mode == "approve-reads" and risk != "read")
    assert decision.approval_required is asks
    assert decision.callable and decision.system_permission_mode == mode


def test_a_tool_nobody_can_be_asked_about_is_hidden_and_not_callable() -> None:
    decision = decide(PolicyContext(permission_mode="deny-all"), make_tool("compozy__x"))
    assert (decision.callable, decision.visible_to_session) == (False, False)
    assert decision.reason_codes == ("approval_unreachable",)


def test_a_broken_tool_stays_visible_with_its_reason() -> None:
    decision = decide(PolicyContext(), make_tool("compozy__x"), Moment(problems=("backend_unhealthy",)))
    assert (decision.callable, decision.visible_to_session) == (False, True)
    assert decision.reason_codes == ("backend_unhealthy",)


def test_a_single_use_approval_stands_for_the_person() -> None:
    context = PolicyContext(permission_mode="deny-all")
    assert decide(context, make_tool("compozy__x"), Moment(has_token=True)).callable


def test_a_remembered_no_holds_where_nobody_would_have_asked() -> None:
    decision = decide(PolicyContext(), make_tool("compozy__x"), Moment(grant="reject"))
    assert not decision.callable and _layers(decision)["approval"] == "denied"


def test_deny_wins_over_allow_and_names_its_entry() -> None:
    context = PolicyContext(allow=Patterns.of(["mcp__*"]), agent_deny=Patterns.of(["mcp__files__*"]))
    decision = decide(context, _TOOL)
    assert (decision.layers[-1].layer, decision.layers[-1].detail) == ("agent_deny", "mcp__files__*")
    assert decision.agent_policy_result == "denied"


def test_an_operator_sees_and_calls_operator_tools() -> None:
    tool = make_tool("compozy__x", visibility="operator")
    assert decide(PolicyContext(is_operator=True), tool).callable
    assert not decide(PolicyContext(), tool).callable
    assert not decide(PolicyContext(is_operator=True), make_tool("compozy__x", visibility="internal")).callable
