"""Which definition is in force, and that nothing empties the list (formats §12, decisions D7-D9, reports P18-P28)."""

import itertools
import os
from pathlib import Path

import pytest

from compozy.catalog.discovery import WORKSPACE_AGENTS, Discovery, discover
from compozy.catalog.reading import AgentReader
from compozy.model.diagnostic import Severity
from tests.kit.agent_files import write_agent
from tests.kit.unprivileged import shared_folder, unprivileged


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def look(root: Path, *, reader: AgentReader | None = None) -> Discovery:
    return discover(
        workspace=root / "ws",
        additional=[root / "add1", root / "add2"],
        home_agents=root / "home/agents",
        reader=reader,
    )


def names(found: Discovery) -> list[str]:
    return [agent.name for agent in found.agents]


def codes(found: Discovery) -> list[tuple[str, str]]:
    return [(row.name, row.diagnostic.code) for row in found.diagnostics]


PLACES = ("ws/.compozy/agents", "add1/.compozy/agents", "add2/.compozy/agents", "home/agents")


@pytest.mark.parametrize("present", [c for n in range(1, 5) for c in itertools.combinations(PLACES, n)])
def test_the_nearest_place_wins_in_every_combination(root: Path, present: tuple[str, ...]) -> None:
    for place in present:
        write_agent(root / place, "helm", extra=f"model: {place}\n")
    found = look(root)
    assert names(found) == ["helm"] and found.agents[0].loaded.definition.model == present[0]
    assert found.agents[0].origin == ("global" if present[0].startswith("home") else "workspace")
    assert [agent.loaded.definition.model for agent in found.shadowed] == list(present[1:])


def test_files_that_are_no_agents_are_no_errors(root: Path) -> None:
    agents = root / "ws" / WORKSPACE_AGENTS
    write_agent(agents, "real")
    for name in ("README.md", "AGENTS.md", "notes/todo.txt", "real/AGENT.md~", ".DS_Store"):
        (agents / name).parent.mkdir(exist_ok=True)
        (agents / name).write_text("x")
    found = look(root)
    assert names(found) == ["real"] and found.diagnostics == ()


def test_one_broken_file_is_one_row_with_its_path_and_all_others_load(root: Path) -> None:
    agents = root / "ws" / WORKSPACE_AGENTS
    for i in range(49):
        write_agent(agents, f"good-{i:02d}")
    bad = write_agent(agents, "bad-one")
    bad.write_text("---\nname: [\n---")
    found = look(root)
    assert len(found.agents) == 49
    assert [(row.name, row.path, row.kind) for row in found.diagnostics] == [
        ("bad-one", str(bad), "frontmatter.invalid")
    ]
    assert len(found.diagnostics[0].all) > 1


def test_two_folders_of_one_root_with_one_name_are_both_named(root: Path) -> None:
    agents = root / "ws" / WORKSPACE_AGENTS
    first = write_agent(agents, "b1", declared="helm")
    second = write_agent(agents, "b2", declared="helm")
    found = look(root)
    assert [str(agent.loaded.path) for agent in found.agents] == [str(first)]
    row = found.diagnostics[0]
    assert (row.name, row.path, row.diagnostic.code) == ("b2", str(second), "discovery-same-name")
    assert row.diagnostic.severity is Severity.WARNING and str(first) in row.message


def test_a_stub_that_hides_a_real_definition_is_flagged_with_both_sizes(root: Path) -> None:
    write_agent(root / "home/agents", "pilot", prompt="x" * 6_012)
    stub = write_agent(root / "ws" / WORKSPACE_AGENTS, "pilot", prompt="abc")
    found = look(root)
    assert codes(found) == [("pilot", "discovery-small-shadow")]
    assert "6,012 → 3 bytes" in found.diagnostics[0].message and found.diagnostics[0].path == str(stub)
    stub.write_text("---\nname: pilot\n---\n\n")
    found = look(root)
    assert found.agents[0].origin == "global" and codes(found) == [("pilot", "prompt-required")]


def test_a_place_that_cannot_be_read_is_never_none(root: Path) -> None:
    with shared_folder() as shared:
        agents = shared / "ws" / WORKSPACE_AGENTS
        write_agent(agents, "hidden")
        write_agent(shared / "home/agents", "cook")
        agents.chmod(0)
        with unprivileged():
            found = look(shared)
        assert names(found) == ["cook"] and not found.complete
        assert [source.state for source in found.sources] == ["unreadable", "missing", "missing", "ok"]
        assert found.sources[0].message == f"agents directory: could not read {agents}: permission denied"


def test_each_file_that_cannot_be_opened_is_one_row_and_the_scan_goes_on() -> None:
    with shared_folder() as shared:
        agents = shared / "home/agents"
        secret = write_agent(agents, "secret")
        locked = write_agent(agents, "locked").parent
        write_agent(agents, "open")
        secret.chmod(0)
        locked.chmod(0)
        with unprivileged():
            found = discover(workspace=None, home_agents=agents)
        assert names(found) == ["open"]
        assert codes(found) == [("locked", "unreadable"), ("secret", "unreadable")]
        assert found.complete


def test_an_agents_path_that_is_a_file_is_an_unreadable_source(root: Path) -> None:
    (root / "ws/.compozy").mkdir(parents=True)
    (root / "ws/.compozy/agents").write_text("x")
    write_agent(root / "home/agents", "cook")
    found = look(root)
    assert names(found) == ["cook"]
    assert found.sources[0].state == "unreadable" and "not a directory" in found.sources[0].message


def test_a_link_in_any_component_is_refused_and_reported(root: Path) -> None:
    write_agent(root / "elsewhere/agents", "helm")
    (root / "ws").mkdir()
    (root / "ws/.compozy").symlink_to(root / "elsewhere")
    found = look(root)
    assert names(found) == [] and found.sources[0].state == "unreadable"
    assert "symlink" in found.sources[0].message


def test_a_linked_catalog_refuses_its_agent_only(root: Path) -> None:
    agents = root / "ws" / WORKSPACE_AGENTS
    helm = write_agent(agents, "helm").parent
    write_agent(agents, "cook")
    (helm / "real").mkdir()
    (helm / "capabilities").symlink_to("real")
    found = look(root)
    assert names(found) == ["cook"] and codes(found) == [("helm", "symlink-rejected")]


def test_special_files_never_make_the_scan_wait(root: Path) -> None:
    agents = root / "ws" / WORKSPACE_AGENTS
    (agents / "pipe").mkdir(parents=True)
    os.mkfifo(agents / "pipe/AGENT.md")
    assert codes(look(root)) == [("pipe", "not-regular-file")]


def test_a_file_above_the_limit_is_named_with_size_and_limit(root: Path) -> None:
    write_agent(root / "home/agents", "large", prompt="x" * 5_000_000)
    write_agent(root / "home/agents", "small")
    found = look(root)
    assert names(found) == ["small"] and codes(found) == [("large", "file-too-large")]
    assert "4194304 (4 MiB)" in found.diagnostics[0].message


def test_invalid_utf8_is_one_row_with_the_byte_and_its_line(root: Path) -> None:
    path = write_agent(root / "home/agents", "latin")
    path.write_bytes(b"---\nname: latin\nmodel: caf\xe9\n---\n\nx\n")
    row = look(root).diagnostics[0]
    assert row.diagnostic.code == "invalid-utf8" and "at byte 26" in row.message
    assert row.diagnostic.position is not None
    assert (row.diagnostic.position.line, row.diagnostic.position.column) == (3, 11)


def test_a_second_look_reads_only_what_changed(root: Path) -> None:
    agents = root / "home/agents"
    paths = [write_agent(agents, f"a-{i}") for i in range(5)]
    reader = AgentReader()
    assert len(look(root, reader=reader).agents) == 5 and reader.parsed == 5
    look(root, reader=reader)
    assert reader.parsed == 5
    paths[2].write_text(paths[2].read_text() + "More.\n")
    found = look(root, reader=reader)
    assert reader.parsed == 6 and found.agents[2].loaded.definition.prompt.endswith("More.")
    (paths[3].parent / "capabilities.toml").write_text("")
    found = look(root, reader=reader)
    assert reader.parsed == 7 and found.agents[3].loaded.definition.capabilities == ()
    (paths[4].parent / "AGENT.md").unlink()
    assert len(look(root, reader=reader).agents) == 4
    write_agent(agents, "a-4")
    assert len(look(root, reader=reader).agents) == 5


def test_a_change_that_keeps_size_and_times_is_still_seen(root: Path) -> None:
    path = write_agent(root / "home/agents", "twin", extra="model: aaaa\n")
    reader = AgentReader()
    assert look(root, reader=reader).agents[0].loaded.definition.model == "aaaa"
    before = path.stat()
    with path.open("r+") as file:
        file.write(path.read_text().replace("aaaa", "bbbb"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert look(root, reader=reader).agents[0].loaded.definition.model == "bbbb"


def test_a_file_replaced_again_and_again_is_read_whole_and_new_each_time(root: Path) -> None:
    path = write_agent(root / "home/agents", "busy")
    reader = AgentReader()
    seen = set()
    for i in range(200):
        text = f"---\nname: busy\nmodel: m{i}\n---\n\n{'x' * (i * 50 + 1)}\n"
        new = path.with_name("AGENT.md.tmp")
        new.write_text(text)
        new.replace(path)
        agent = look(root, reader=reader).agents[0].loaded
        assert agent.definition.model == f"m{i}" and len(agent.definition.prompt) == i * 50 + 1
        seen.add(agent.definition_digest)
    assert len(seen) == 200


def test_a_catalog_folder_is_watched_entry_by_entry(root: Path) -> None:
    folder = write_agent(root / "home/agents", "helm").parent / "capabilities"
    folder.mkdir()
    record = 'id = "{}"\nsummary = "s"\noutcome = "o"\n'
    (folder / "a.toml").write_text(record.format("a"))
    reader = AgentReader()
    digests = {look(root, reader=reader).agents[0].loaded.capabilities_digest}
    (folder / "b.toml").write_text(record.format("b"))
    digests.add(look(root, reader=reader).agents[0].loaded.capabilities_digest)
    (folder / "b.toml").write_text(record.format("b") + 'version = "1"\n')
    digests.add(look(root, reader=reader).agents[0].loaded.capabilities_digest)
    (folder / "b.toml").unlink()
    digests.add(look(root, reader=reader).agents[0].loaded.capabilities_digest)
    assert len(digests) == 3


def test_an_ending_order_of_the_listing_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("c", "a", "b", "é", "Z"):
        write_agent(root / "home/agents", name, declared="x" if name in ("é", "Z") else name)
    expected = names(look(root))
    real = os.listdir
    monkeypatch.setattr(os, "listdir", lambda *args: list(reversed(real(*args))))
    assert names(look(root)) == expected == ["x", "a", "b", "c"]
