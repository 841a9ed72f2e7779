"""Every recorded case of the established parser: our result equals it, or the deviation is documented."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from compozy.catalog.discovery import discover
from compozy.catalog.strict import discover_strictly
from compozy.documents.agents import LoadedAgent, check_agent, load_agent, load_named_agent
from compozy.documents.canonical import NoDigest, render
from compozy.documents.capabilities import check_capabilities
from compozy.documents.digests import capability_bytes, capability_digest
from compozy.documents.durations import duration_text
from compozy.documents.mcp_json import check_mcp_json
from compozy.documents.names import name_problem
from compozy.documents.problems import DefinitionError
from compozy.documents.text import trim
from compozy.model.capability import Capability
from compozy.model.definition import HookDeclaration, McpServer
from compozy.model.diagnostic import Diagnostic, Severity

ROOT = Path(__file__).resolve().parents[2]
CASES = [json.loads(line) for line in (ROOT / "tests/data/format_cases.jsonl").read_text("utf-8").split("\n") if line]
_ROW = re.compile(r"^\| `([a-z0-9-]+)` \| (\S.*?) \|", re.MULTILINE)
# The page goes on with the deviations of manifests, which test_ocm_text_cases.py keeps exact.
_PAGE = (ROOT / "docs/deviations.md").read_text("utf-8").partition("\n# Where compozy judges capability manifests")[0]
DEVIATIONS = dict(_ROW.findall(_PAGE))


class Failed(Exception):
    """The operation was refused: the code and every message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def build(case: dict[str, Any], root: Path) -> None:
    for name, text in case["files"].items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode("utf-8"))
    for name, data in case.get("files_b64", {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(base64.b64decode(data))
    for name in case.get("dirs", []):
        (root / name).mkdir(parents=True, exist_ok=True)
    for link, target in case.get("symlinks", {}).items():
        (root / link).parent.mkdir(parents=True, exist_ok=True)
        (root / link).symlink_to(target)


def run(case: dict[str, Any], root: Path) -> dict[str, Any]:
    args, op = case["args"], case["op"]
    try:
        if op == "load_agent":
            if "name" in args:
                loaded = load_named_agent(args["name"], root / args["home"] / "agents")
            else:
                loaded = load_agent(root / args["path"])
            return {"agent": agent_view(loaded)}
        if op == "load_capabilities":
            catalog = check_capabilities(root / args["dir"])
            refuse(catalog.diagnostics)
            return {"capabilities": capability_views(catalog.capabilities)}
        if op == "load_mcp":
            servers = check_mcp_json(root / args["path"])
            refuse(servers.diagnostics)
            return {"servers": [server_view(server) for server in servers.servers or ()]}
        if op == "validate_name":
            problem = name_problem(args["name"], authored=args["authored"])
            if problem is not None:
                raise Failed(problem.code, problem.message)
            return {"name": trim(args["name"])}
        if op == "digest":
            return digest(args, root)
        return discovery(args, root)
    except DefinitionError as error:
        raise Failed(error.first.code, error.first.message) from None


def refuse(diagnostics: tuple[Diagnostic, ...]) -> None:
    if any(d.severity is Severity.ERROR for d in diagnostics):
        raise DefinitionError(diagnostics)


def digest(args: dict[str, Any], root: Path) -> dict[str, Any]:
    if args["kind"] == "capability":
        fields = {k: tuple(v) if isinstance(v, list) else v for k, v in args["capability"].items()}
        capability = Capability(**fields)
        return {"digest": capability_digest(capability), "canonical": capability_bytes(capability).decode()}
    loaded = load_agent(root / args["path"])
    try:
        rendered = render(loaded.definition)
    except NoDigest as error:
        raise Failed(error.code, error.message) from None
    return {"digest": loaded.definition_digest, "rendered": rendered}


def discovery(args: dict[str, Any], root: Path) -> dict[str, Any]:
    workspace = root / args["workspace"] if args["workspace"] else None
    additional = [root / path for path in args["additional"]]
    home = root / args["home"] / "agents" if args["home"] else None

    def shown(path: object) -> str:
        return str(Path(str(path)).relative_to(root))

    if args["mode"] == "strict":
        agents = discover_strictly(workspace=workspace, additional=additional, home_agents=home)
        return {"agents": [{"name": agent.name, "path": shown(agent.loaded.path)} for agent in agents]}
    found = discover(workspace=workspace, additional=additional, home_agents=home)
    return {
        "agents": [{"name": a.name, "origin": a.origin, "path": shown(a.loaded.path)} for a in found.agents],
        "diagnostics": [
            {"kind": d.kind, "name": d.name, "path": shown(d.path)}
            for d in found.diagnostics
            if d.diagnostic.severity is Severity.ERROR
        ],
    }


def agent_view(loaded: LoadedAgent) -> dict[str, Any]:
    definition = loaded.definition
    view: dict[str, Any] = {
        name: plain(getattr(definition, name))
        for name in (
            "name", "prompt", "provider", "command", "model", "reasoning_effort", "tools", "toolsets", "deny_tools",
            "permissions", "skills_disabled", "category_path",
        )
    }  # fmt: skip
    view["mcp_servers"] = [server_view(server) for server in definition.mcp_servers]
    view["hooks"] = [hook_view(hook) for hook in definition.hooks]
    view = compact(view)
    view["capabilities"] = capability_views(definition.capabilities)
    return view


def server_view(server: McpServer) -> dict[str, Any]:
    view = {name: plain(getattr(server, name)) for name in server.__struct_fields__ if name != "auth"}
    if server.auth is not None:
        view["auth"] = compact({name: plain(getattr(server.auth, name)) for name in server.auth.__struct_fields__})
    return compact(view)


def hook_view(hook: HookDeclaration) -> dict[str, Any]:
    view = {name: plain(getattr(hook, name)) for name in hook.__struct_fields__ if name not in ("required",)}
    if hook.required:
        view["required"] = True
    if hook.timeout_ns:
        view["timeout"] = duration_text(hook.timeout_ns)
    else:
        view.pop("timeout_ns")
    return compact(view)


def capability_views(capabilities: tuple[Capability, ...] | None) -> list[dict[str, Any]] | None:
    if capabilities is None:
        return None
    return [compact({name: plain(getattr(c, name)) for name in c.__struct_fields__}) for c in capabilities]


def plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def compact(view: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in view.items() if value or value is False or (value == 0 and value != "")}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_recorded_case_gives_the_recorded_result(case: dict[str, Any], tmp_path: Path) -> None:
    root = tmp_path.resolve()
    build(case, root)
    expect = case["expect"]
    if case["id"] in DEVIATIONS:
        assert not agrees(case, root), "no longer a deviation: remove it from docs/deviations.md"
        return
    if expect["ok"]:
        result = run(case, root)
        for part, value in expect.items():
            if part != "ok":
                assert result[part] == value
        return
    with pytest.raises(Failed) as refused:
        run(case, root)
    assert refused.value.code == expect["error_code"], refused.value.message
    if not case.get("mentions_advisory"):
        for words in expect["mentions"]:
            assert words in refused.value.message


def agrees(case: dict[str, Any], root: Path) -> bool:
    expect = case["expect"]
    try:
        result = run(case, root)
    except Failed as refused:
        return not expect["ok"] and refused.code == expect["error_code"]
    return bool(expect["ok"]) and all(result[part] == value for part, value in expect.items() if part != "ok")


def test_every_listed_deviation_names_a_case_and_a_reason() -> None:
    known = {case["id"] for case in CASES}
    assert set(DEVIATIONS) <= known
    assert all(len(reason) > 10 for reason in DEVIATIONS.values())


def test_the_case_file_is_complete() -> None:
    assert len(CASES) == 422
    assert check_agent.__name__
