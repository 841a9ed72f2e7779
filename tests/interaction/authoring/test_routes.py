"""Authoring through the API of a real daemon (contract §3.3; formats §13; decisions D3, D4, D12; P30-P34)."""

import fcntl
import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.client import ApiError
from compozy.documents.agents import load_agent
from tests.kit.agent_files import write_agent
from tests.kit.daemons import Daemon

AGENT = {"name": "clerk", "prompt": "Keep the tables."}
COMMENTED = (
    "---\n# who\nname: clerk\nmodel: 'a'   # which\n"
    "mcp_servers:\n- {name: bell, command: bell, env: {API_TOKEN: hush}}\n---\n\nKeep.\n"
)


class Place:
    """A workspace of its own on the shared daemon, a second root, and both transports."""

    def __init__(self, daemon: Daemon, folder: Path) -> None:
        self.daemon = daemon
        self.home_agents = daemon.home.agents
        self.unix, self.tcp = daemon.client(), daemon.tcp_client()
        self.more = folder / "more"
        self.project = folder / "project"
        for made in (self.more, self.project):
            made.mkdir()
        body = {"root_dir": str(self.project), "add_dirs": [str(self.more)]}
        self.id = str(self.ask("POST", "/api/workspaces", body)[1]["workspace"]["id"])  # type: ignore[index]
        self.agents = self.project / ".compozy/agents"
        self.more_agents = self.more / ".compozy/agents"

    def ask(
        self, method: str, path: str, body: object = None, *, tcp: bool = False, **query: str
    ) -> tuple[int, dict[str, object]]:
        client = self.tcp if tcp else self.unix
        try:
            answer = client.request(method, path, body=body, query=query)
        except ApiError as error:
            return error.status, dict(error.envelope)
        found = answer.json() if answer.body else {}
        assert isinstance(found, dict)
        return answer.status, found

    def agent(self, name: str, *, workspace: bool = True) -> dict[str, object]:
        status, found = self.ask("GET", f"/api/agents/{name}", **({"workspace": self.id} if workspace else {}))
        assert status == 200, found
        agent = found["agent"]
        assert isinstance(agent, dict)
        return agent

    def payload(self, name: str, **changes: object) -> dict[str, object]:
        agent = self.agent(name)
        keys = ("name", "prompt", "provider", "model", "command", "permissions", "tools", "category_path", "skills")
        return {key: agent[key] for key in keys if key in agent} | changes

    def put(self, name: str, digest: object, agent: object, **more: object) -> tuple[int, dict[str, object]]:
        body = {"agent": agent, "expected_digest": digest, "workspace": self.id} | more
        return self.ask("PUT", f"/api/agents/{name}", body)


@pytest.fixture
def place(shared_daemon: Daemon, tmp_path: Path) -> Iterator[Place]:
    made = Place(shared_daemon, tmp_path)
    yield made
    made.unix.close()
    made.tcp.close()


def everything(*folders: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }


def create(place: Place, name: str = "clerk", **changes: object) -> dict[str, object]:
    body = {"scope": "workspace", "workspace": place.id, "agent": AGENT | {"name": name} | changes}
    status, answer = place.ask("POST", "/api/agents", body)
    assert status == 201, answer
    agent = answer["agent"]
    assert isinstance(agent, dict)
    return agent


def test_a_created_agent_is_what_the_next_read_says(place: Place) -> None:
    made = create(
        place, model="m", tools=["compozy__b", "compozy__a"], skills={"disabled": ["s"]}, category_path=["x"]
    )
    assert made == place.agent("clerk")
    assert made["origin"] == "workspace" and made["workspace_id"] == place.id
    assert made["definition_digest"] == load_agent(place.agents / "clerk/AGENT.md").definition_digest


@pytest.mark.parametrize("tcp", [False, True], ids=["socket", "tcp"])
def test_reserved_names_are_422_with_their_code_and_write_nothing(place: Place, tcp: bool) -> None:
    create(place)
    before = everything(place.project, place.home_agents)
    agent = AGENT | {"name": "coordinator"}
    for method, path, body in (
        ("POST", "/api/agents", {"scope": "workspace", "workspace": place.id, "agent": agent}),
        ("POST", "/api/agents", {"scope": "global", "agent": AGENT | {"name": " Dreaming-Curator "}}),
        ("PUT", "/api/agents/coordinator", {"agent": agent, "expected_digest": "x", "workspace": place.id}),
        ("POST", "/api/agents/clerk/duplicate", {"name": "coordinator", "workspace": place.id}),
    ):
        status, answer = place.ask(method, path, body, tcp=tcp)
        assert status == 422 and answer["diagnostic"]["code"] == "agent_name_reserved"  # type: ignore[index]
    assert everything(place.project, place.home_agents) == before


def test_a_runtime_that_cannot_be_resolved_is_400_and_writes_nothing(place: Place) -> None:
    for changes in ({"provider": "nobody"}, {"permissions": "everything"}, {"reasoning_effort": "huge"}):
        body = {"scope": "workspace", "workspace": place.id, "agent": AGENT | changes}
        status, answer = place.ask("POST", "/api/agents", body)
        assert status == 400 and next(iter(changes.values())) in str(answer["error"])
    assert not (place.agents / "clerk").exists()


def test_a_taken_name_is_409_also_when_another_folder_declares_it(place: Place) -> None:
    write_agent(place.agents, "folder", declared="clerk")
    before = everything(place.project)
    for body in (
        {"scope": "workspace", "workspace": place.id, "agent": AGENT},
        {"scope": "workspace", "workspace": place.id, "agent": AGENT | {"name": "clerk"}},
    ):
        assert place.ask("POST", "/api/agents", body)[0] == 409
    assert everything(place.project) == before
    body = {"scope": "workspace", "workspace": place.id, "agent": AGENT | {"name": "folder"}}
    assert place.ask("POST", "/api/agents", body)[0] == 409, "the folder is taken"


def test_an_update_changes_one_line_keeps_servers_and_shows_no_secret(place: Place) -> None:
    """P30; formats §13: servers stay; D1: what looks like a secret reads [REDACTED]."""
    path = write_agent(place.agents, "clerk")
    path.write_text(COMMENTED)
    (path.parent / "mcp.json").write_text(
        '{"mcpServers": {"gong": {"command": "gong", "env": {"PASSWORD": "hush2"}}}}'
    )
    seen = place.agent("clerk")
    status, answer = place.put("clerk", seen["definition_digest"], place.payload("clerk", model="b"))
    assert status == 200 and answer["edit"] == {"changed": True}
    assert path.read_text() == COMMENTED.replace("'a'", "'b'")
    assert answer["agent"] == place.agent("clerk"), "D4: the digest of the answer is that of the next read"
    assert "hush" not in json.dumps(answer) and "[REDACTED]" in json.dumps(answer)


def test_saving_without_a_change_is_accepted_and_keeps_the_digest(place: Place) -> None:
    """P33."""
    made = create(place)
    for _ in range(2):
        status, answer = place.put("clerk", made["definition_digest"], place.payload("clerk"))
        assert status == 200 and answer["agent"] == made and answer["edit"] == {"changed": False}
    status, answer = place.ask("GET", "/api/agents/clerk/history", workspace=place.id)
    assert answer == {"history": []}


def test_fields_that_are_absent_are_cleared(place: Place) -> None:
    made = create(place, model="m", permissions="deny-all", tools=["compozy__a"], skills={"disabled": ["s"]})
    status, answer = place.put("clerk", made["definition_digest"], AGENT)
    assert status == 200
    assert not {"model", "permissions", "tools", "skills"} & set(answer["agent"])  # type: ignore[arg-type]


def test_what_cannot_be_edited_in_place_is_written_canonically_and_says_so(place: Place) -> None:
    path = write_agent(place.agents, "clerk")
    path.write_text("---\nname: clerk\ntools: &a [compozy__a]\ndeny_tools: *a\n---\n\nKeep.\n")
    seen = place.agent("clerk")
    status, answer = place.put("clerk", seen["definition_digest"], place.payload("clerk", tools=["compozy__b"]))
    assert status == 200
    edit = answer["edit"]
    assert isinstance(edit, dict) and edit["in_place"] is False and "canonical" in str(edit["note"])


def test_a_stale_digest_is_409_with_the_current_one_and_a_three_way_hint(place: Place) -> None:
    made = create(place, model="a")
    digest = made["definition_digest"]
    assert place.put("clerk", digest, AGENT | {"model": "b"})[0] == 200
    before = everything(place.project)
    status, answer = place.put("clerk", digest, AGENT | {"model": "a", "prompt": "Other."})
    assert status == 409 and answer["code"] == "definition_conflict"
    details = answer["details"]
    assert isinstance(details, dict)
    assert details["current_digest"] == place.agent("clerk")["definition_digest"]
    assert (details["your_changes"], details["their_changes"]) == ("prompt", "model")
    assert details["touches"] == "no"
    details = place.put("clerk", digest, AGENT | {"model": "c"})[1]["details"]
    assert isinstance(details, dict)
    assert (details["touches"], details["disputed_fields"]) == ("yes", "model")
    assert everything(place.project) == before


def test_a_digest_nobody_remembers_still_tells_what_differs(place: Place) -> None:
    create(place)
    status, answer = place.put("clerk", "0" * 64, AGENT | {"model": "x"})
    details = answer["details"]
    assert isinstance(details, dict)
    assert (status, details["touches"], details["differing_fields"]) == (409, "unknown", "model")


def test_the_name_of_body_and_path_must_agree_and_a_digest_is_required(place: Place) -> None:
    made = create(place)
    assert place.put("clerk", made["definition_digest"], AGENT | {"name": "other"})[0] == 400
    assert place.put("clerk", " ", AGENT)[0] == 400
    assert place.ask("PUT", "/api/agents/clerk", {"agent": AGENT, "workspace": place.id})[0] == 400
    assert place.put("nobody", "x", AGENT | {"name": "nobody"})[0] == 404


def test_a_header_that_is_not_recognised_is_refused_and_never_doubled(place: Place) -> None:
    """P31."""
    create(place, "fine")
    for start in ("\n", "\ufeff"):
        path = write_agent(place.agents, "clerk")
        path.write_text(start + COMMENTED)
        before = everything(place.project)
        status, answer = place.put("clerk", "x", AGENT)
        assert status == 400 and "does not load" in str(answer["error"])
        assert everything(place.project) == before


def test_the_winner_is_edited_and_deleted_wherever_it_lies(place: Place) -> None:
    """D12: workspace over additional root over home; what becomes effective is named."""
    name = f"clerk-{os.getpid()}-winner"
    for root, model in ((place.agents, "w"), (place.more_agents, "m"), (place.home_agents, "h")):
        write_agent(root, name, extra=f"model: {model}\n")
    for model, origin, unshadowed in (
        ("w", "workspace", "workspace"),
        ("m", "workspace", "global"),
        ("h", "global", None),
    ):
        present = place.agent(name)
        assert (present["model"], present["origin"]) == (model, origin)
        path = Path(str(present["path"]))
        status, answer = place.put(name, present["definition_digest"], place.payload(name, prompt=f"New {model}."))
        assert status == 200 and f"New {model}." in path.read_text(), answer
        status, answer = place.ask("DELETE", f"/api/agents/{name}", workspace=place.id)
        expected = {"name": name, "origin": origin} | ({"unshadowed_origin": unshadowed} if unshadowed else {})
        assert (status, answer) == (200, expected) and not path.parent.exists()
    assert place.ask("DELETE", f"/api/agents/{name}", workspace=place.id)[0] == 404


def test_a_copy_lies_beside_its_source_unless_a_scope_is_given(place: Place) -> None:
    path = write_agent(place.agents, "clerk")
    path.write_text(COMMENTED)
    (path.parent / "capabilities.toml").write_text('[[capabilities]]\nid="a"\nsummary="s"\noutcome="o"\n')
    body: dict[str, object] = {"name": "copy", "workspace": place.id}
    overrides = {"model": "z", "command": "", "tools": [], "skills": {"disabled": ["s"]}}
    status, answer = place.ask("POST", "/api/agents/clerk/duplicate", body | {"overrides": overrides})
    copied = answer["agent"]
    assert status == 201 and isinstance(copied, dict) and copied == place.agent("copy")
    assert (copied["model"], copied["origin"], copied["skills"]) == ("z", "workspace", {"disabled": ["s"]})
    assert [c["id"] for c in copied["capabilities"]] == ["a"]
    assert "hush" not in json.dumps(answer) and "# which" in (place.agents / "copy/AGENT.md").read_text()
    assert place.ask("POST", "/api/agents/clerk/duplicate", body)[0] == 409
    name = f"clerk-{os.getpid()}-copy"
    status, answer = place.ask("POST", "/api/agents/clerk/duplicate", body | {"name": name, "scope": "global"})
    assert status == 201 and (place.home_agents / name / "AGENT.md").exists()
    assert place.ask("DELETE", f"/api/agents/{name}")[1] == {"name": name, "origin": "global"}


def test_workspace_scope_needs_a_workspace_and_a_missing_root_is_gone(place: Place) -> None:
    assert place.ask("POST", "/api/agents", {"scope": "workspace", "agent": AGENT})[0] == 400
    body = {"scope": "workspace", "workspace": "nobody", "agent": AGENT}
    assert place.ask("POST", "/api/agents", body)[0] == 404
    place.project.rename(place.project.with_name("moved"))
    body["workspace"] = place.id
    assert place.ask("POST", "/api/agents", body)[0] == 410
    assert not place.project.exists()


def test_sessions_outlive_their_agent_and_keep_the_digest_they_began_with(place: Place) -> None:
    """P34: a session shows the definition it was created with; a new one gets the new definition."""
    made = create(place)
    body = {"agent_name": "clerk", "workspace": place.id}
    first = place.ask("POST", "/api/sessions", body)[1]["session"]
    assert isinstance(first, dict) and first["definition_digest"] == made["definition_digest"]
    answer = place.put("clerk", made["definition_digest"], AGENT | {"prompt": "Anew."})[1]
    second = place.ask("POST", "/api/sessions", body)[1]["session"]
    agent = answer["agent"]
    assert isinstance(second, dict) and isinstance(agent, dict)
    assert second["definition_digest"] == agent["definition_digest"] != made["definition_digest"]
    assert place.ask("DELETE", "/api/agents/clerk", workspace=place.id)[0] == 200
    for session, digest in ((first, made["definition_digest"]), (second, agent["definition_digest"])):
        kept = place.ask("GET", f"/api/sessions/{session['id']}")[1]["session"]
        assert isinstance(kept, dict) and kept["definition_digest"] == digest


def test_every_change_can_be_taken_back_also_a_deletion(place: Place) -> None:
    made = create(place)
    folder = place.agents / "clerk"
    (folder / "notes").mkdir()
    (folder / "notes/.secret").write_text("mine")
    (folder / "notes/.secret").chmod(0o640)
    before = everything(folder)
    place.put("clerk", made["definition_digest"], AGENT | {"prompt": "Anew."})
    assert place.ask("DELETE", "/api/agents/clerk", workspace=place.id)[0] == 200
    rows = place.ask("GET", "/api/agents/clerk/history", workspace=place.id)[1]["history"]
    assert isinstance(rows, list) and [row["operation"] for row in rows] == ["delete", "update"]
    body = {"hash": rows[1]["hash"][:10], "workspace": place.id}
    status, answer = place.ask("POST", "/api/agents/clerk/restore", body)
    assert status == 200 and answer["agent"] == made == place.agent("clerk")
    assert everything(folder) == before
    assert stat.S_IMODE((folder / "notes/.secret").stat().st_mode) == 0o640
    body["hash"] = rows[0]["hash"]
    assert place.ask("POST", "/api/agents/clerk/restore", body)[0] == 200
    assert place.agent("clerk")["prompt"] == "Anew."
    again = place.ask("GET", "/api/agents/clerk/history", workspace=place.id)[1]["history"]
    assert isinstance(again, list) and again[0]["operation"] == "restore"
    assert again[0]["hash"] == rows[1]["hash"], "an undo is kept, so that it can be undone"


def test_a_restore_may_name_the_state_it_was_decided_on(place: Place) -> None:
    write_agent(place.agents, "clerk")
    first = place.agent("clerk")["definition_digest"]
    change = {"agent": place.payload("clerk", model="b"), "expected_digest": first, "workspace": place.id}
    assert place.ask("PUT", "/api/agents/clerk", change)[0] == 200
    second = place.agent("clerk")["definition_digest"]
    kept = place.ask("GET", "/api/agents/clerk/history", workspace=place.id)[1]["history"]
    assert isinstance(kept, list)
    body = {"hash": kept[0]["hash"], "workspace": place.id}
    status, refused = place.ask("POST", "/api/agents/clerk/restore", {**body, "expected_digest": first})
    assert (status, refused["code"], refused["details"]) == (409, "definition_conflict", {"current_digest": second})
    assert place.agent("clerk")["definition_digest"] == second
    assert place.ask("POST", "/api/agents/clerk/restore", {**body, "expected_digest": second})[0] == 200
    assert place.agent("clerk")["definition_digest"] == first
    assert place.ask("DELETE", "/api/agents/clerk", workspace=place.id)[0] == 200
    status, refused = place.ask("POST", "/api/agents/clerk/restore", {**body, "expected_digest": first})
    assert (status, refused["details"]) == (409, {"current_digest": ""})
    assert not (place.agents / "clerk").exists()


def test_a_deletion_names_what_was_too_large_to_be_kept(place: Place) -> None:
    create(place)
    with (place.agents / "clerk/big.bin").open("wb") as file:
        file.truncate(33 << 20)
    status, answer = place.ask("DELETE", "/api/agents/clerk", workspace=place.id)
    assert (status, answer["not_kept"]) == (200, ["big.bin"])
    rows = place.ask("GET", "/api/agents/clerk/history", workspace=place.id)[1]["history"]
    assert isinstance(rows, list) and rows[0]["left_out"] == ["big.bin"] and rows[0]["files"] == 1


def test_capabilities_come_brief_for_peers_and_rich_with_digests(place: Place) -> None:
    path = write_agent(place.agents, "clerk")
    catalog = '[[capabilities]]\nid = "chart"\nsummary = "Chart."\noutcome = "A chart."\nversion = "2"\n'
    (path.parent / "capabilities.toml").write_text(catalog)
    where = "/api/agents/clerk/capabilities"
    status, brief = place.ask("GET", where, workspace=place.id, detail="brief")
    assert status == 200 and brief["capabilities"] == [{"id": "chart", "summary": "Chart."}]
    status, rich = place.ask("GET", where, workspace=place.id, detail="rich")
    agent = place.agent("clerk")
    assert rich["capabilities"] == agent["capabilities"]
    assert rich["capabilities_digest"] == brief["capabilities_digest"] == agent["capabilities_digest"]
    assert place.ask("GET", where, workspace=place.id, detail="all")[0] == 400
    assert place.ask("GET", "/api/agents/nobody/capabilities", workspace=place.id)[0] == 404


def test_an_extensions_agent_is_edited_and_deleted_in_its_own_folder(place: Place, tmp_path: Path) -> None:
    """D12, D13."""
    name, extension = f"brought-{os.getpid()}", tmp_path / "extension"
    path = write_agent(extension / "agents", name)
    write_agent(extension / "agents", f"{name}-other")
    (extension / "extension.toml").write_text('name = "tides"\nversion = "1"\nagents = ["agents"]\n')
    status, answer = place.ask("POST", "/api/extensions", {"path": str(extension)})
    assert status in (200, 201), answer
    assert place.ask("POST", "/api/extensions/tides/enable")[0] == 200
    try:
        present = place.agent(name)
        assert (present["origin"], present["extension"]) == ("global", "tides")
        status, answer = place.put(name, present["definition_digest"], place.payload(name, model="m"))
        assert status == 200 and "model: m" in path.read_text()
        assert answer["agent"] == place.agent(name) and place.agent(name)["extension"] == "tides"
        status, answer = place.ask("POST", f"/api/agents/{name}/duplicate", {"name": f"{name}-copy"})
        assert status == 201 and (place.home_agents / f"{name}-copy/AGENT.md").exists()
        assert place.ask("DELETE", f"/api/agents/{name}-copy")[0] == 200
        assert place.ask("DELETE", f"/api/agents/{name}") == (200, {"name": name, "origin": "global"})
        assert not path.parent.exists() and place.agent(f"{name}-other")["extension"] == "tides"
        rows = place.ask("GET", f"/api/agents/{name}/history")[1]["history"]
        assert isinstance(rows, list)
        assert place.ask("POST", f"/api/agents/{name}/restore", {"hash": rows[0]["hash"]})[0] == 200
        assert place.agent(name)["model"] == "m"
    finally:
        place.ask("DELETE", "/api/extensions/tides")


def test_a_lock_somebody_holds_delays_that_agent_and_no_other(place: Place) -> None:
    made, other = create(place), create(place, "other")
    handle = os.open(place.agents / "clerk", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    results: list[int] = []

    def edit(number: int) -> None:
        with place.daemon.client() as client:
            body = {
                "agent": AGENT | {"model": "m"},
                "expected_digest": made["definition_digest"],
                "workspace": place.id,
            }
            try:
                results.append(client.request("PUT", "/api/agents/clerk", body=body).status)
            except ApiError as error:
                results.append(error.status)

    waiting = [threading.Thread(target=edit, args=(number,)) for number in range(12)]
    try:
        for thread in waiting:
            thread.start()
        assert place.put("other", other["definition_digest"], AGENT | {"name": "other", "model": "x"})[0] == 200
        assert place.agent("other")["model"] == "x" and results == []
    finally:
        os.close(handle)
    for thread in waiting:
        thread.join(30)
    assert sorted(results) == [200] + [409] * 11


BAD_BODIES: tuple[tuple[str, str, str], ...] = (
    ("POST", "", "null"),
    ("POST", "", "[]"),
    ("POST", "", "{}"),
    ("POST", "", '{"scope": "galaxy", "agent": {"name": "clerk2", "prompt": "x"}}'),
    ("POST", "", '{"scope": "global", "agent": {"name": "clerk2", "prompt": "x"}} trailing'),
    ("POST", "", '{"scope": "global", "agent": {"name": "clerk2", "prompt": "x"}}{}'),
    ("POST", "", '{"scope": "global", "scope": "global", "agent": {"name": "clerk2", "prompt": "x"}}'),
    ("POST", "", '{"scope": "global", "agent": {"name": "clerk2", "prompt": "x", "mcp_servers": []}}'),
    ("POST", "", '{"scope": "global", "agent": {"name": "clerk2", "prompt": "x", "hooks": []}}'),
    ("POST", "", '{"scope": "global", "agent": {"name": "clerk2", "prompt": "x", "model": null}}'),
    ("POST", "", '{"scope": "global", "agent": {"name": "clerk2", "prompt": "x", "tools": "compozy__a"}}'),
    ("POST", "", '{"scope": "global", "agent": {"name": "clerk2", "prompt": "x", "tools": ["not a tool"]}}'),
    ("POST", "", '{"scope": "global", "agent": {"name": "clerk2", "prompt": "x", "skills": {"enabled": []}}}'),
    ("POST", "", '{"scope": "global", "agent": {"name": "clerk2", "prompt": "x", "category_path": ["a", " "]}}'),
    ("POST", "", '{"scope": "global", "agent": {"name": "clerk2", "prompt": " "}}'),
    ("POST", "", '{"scope": "global", "agent": {"name": "clerk2", "prompt": "\\ud800"}}'),
    ("PUT", "/clerk", '{"agent": {"name": "clerk", "prompt": "x"}, "expected_digest": 1}'),
    ("PUT", "/clerk", '{"agent": {"name": "clerk", "prompt": "x"}, "expected_digest": "x", "force": true}'),
    ("POST", "/clerk/duplicate", '{"name": "clerk2", "overrides": {"name": "x"}}'),
    ("POST", "/clerk/duplicate", '{"name": "clerk2", "overrides": {"mcp_servers": []}}'),
    ("POST", "/clerk/restore", '{"hash": "12"}'),
)


@pytest.mark.parametrize(("method", "path", "body"), BAD_BODIES, ids=[str(n) for n in range(len(BAD_BODIES))])
def test_a_bad_body_is_400_on_both_transports_and_changes_nothing(
    place: Place, method: str, path: str, body: str
) -> None:
    create(place)
    before = everything(place.project, place.home_agents)
    answers = [place.ask(method, "/api/agents" + path, body.encode(), tcp=tcp) for tcp in (False, True)]
    assert answers[0] == answers[1], "TCP and the socket say the same"
    assert answers[0][0] == 400, answers[0]
    assert everything(place.project, place.home_agents) == before


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "/etc/x", ".", "..", "", " ", "A", "a b", "a\0b", "x" * 107, "-a", "é", "a.b", "~"]
)
def test_a_name_that_is_no_agent_name_writes_nothing(place: Place, name: str) -> None:
    create(place)
    before = everything(place.project, place.home_agents)
    body = {"scope": "workspace", "workspace": place.id, "agent": AGENT | {"name": name}}
    assert place.ask("POST", "/api/agents", body)[0] == 400
    assert place.ask("POST", "/api/agents/clerk/duplicate", {"name": name, "workspace": place.id})[0] == 400
    assert everything(place.project, place.home_agents) == before


def test_a_bad_name_reaches_no_folder_of_the_history(place: Place) -> None:
    for name in ("..%2F..", "%2Ftmp", "clerk%00", "..%2Fagents%2Fclerk"):
        assert place.ask("GET", f"/api/agents/{name}/history", workspace=place.id) == (200, {"history": []})


@pytest.mark.parametrize("name", ["..%2Fclerk", "clerk%2F..%2Fclerk", "%2Fetc", "%2E%2E", "clerk%00", "CLERK"])
def test_a_path_that_names_no_agent_is_404_and_touches_nothing(place: Place, name: str) -> None:
    create(place)
    before = everything(place.project, place.home_agents)
    assert place.ask("DELETE", f"/api/agents/{name}", workspace=place.id)[0] == 404
    body = {"name": "copy", "workspace": place.id}
    assert place.ask("POST", f"/api/agents/{name}/duplicate", body)[0] == 404
    assert place.ask("POST", f"/api/agents/{name}/restore", {"hash": "0" * 64, "workspace": place.id})[0] == 404
    assert everything(place.project, place.home_agents) == before


def test_a_folder_that_is_a_link_is_no_agent_and_nothing_is_written_through_it(place: Place, tmp_path: Path) -> None:
    outside = write_agent(tmp_path / "outside", "clerk").parent
    place.agents.mkdir(parents=True)
    (place.agents / "clerk").symlink_to(outside)
    before = everything(tmp_path / "outside")
    assert place.ask("DELETE", "/api/agents/clerk", workspace=place.id)[0] == 404
    assert place.put("clerk", "x", AGENT)[0] == 404
    body = {"scope": "workspace", "workspace": place.id, "agent": AGENT}
    assert place.ask("POST", "/api/agents", body)[0] == 400
    assert everything(tmp_path / "outside") == before and (place.agents / "clerk").is_symlink()


@pytest.mark.parametrize("tcp", [False, True], ids=["socket", "tcp"])
def test_five_megabytes_are_413(place: Place, tcp: bool) -> None:
    body = {"scope": "workspace", "workspace": place.id, "agent": AGENT | {"prompt": "x" * (5 << 20)}}
    assert place.ask("POST", "/api/agents", body, tcp=tcp)[0] == 413
    assert not (place.agents / "clerk").exists()


def test_unknown_or_repeated_query_parameters_are_refused_on_a_deletion(place: Place) -> None:
    """D23."""
    create(place)
    assert place.ask("DELETE", "/api/agents/clerk", workspace=place.id, force="true")[0] == 400
    path = f"/api/agents/clerk?workspace={place.id}&workspace={place.id}"
    assert place.ask("DELETE", path)[0] == 400
    assert (place.agents / "clerk/AGENT.md").exists()
