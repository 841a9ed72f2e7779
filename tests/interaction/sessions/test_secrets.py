"""Secrets go to the one process that needs them and are found nowhere else (reports P35, P36, P39, P40; §5.8)."""

import base64
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compozy.client import ApiError
from compozy.config.vault import Vault
from compozy.daemon.routes import ALL_ROUTES
from tests.kit.agents import fake_agent_command, received
from tests.kit.sessions import World

BY_VARIABLE = "Qv7-planted-variable-91"
BY_VAULT = "Zk3-planted-vault-entry-52"
LITERAL = "tok_7f3a9-planted-literal"
UNRELATED = "Wm8-planted-unrelated-17"
SHARED = "tok_4b81c-planted-in-the-homes-mcp-json"
ARGUMENT = "tok_55aa1-planted-as-an-argument"
IN_COMMAND = "tok_0d1e2-planted-in-the-command-of-an-agent"
IN_PROVIDER = "tok_3c4d5-planted-in-the-command-of-a-provider"
SECRETS = (BY_VARIABLE, BY_VAULT, LITERAL, UNRELATED, SHARED, ARGUMENT, IN_COMMAND, IN_PROVIDER)
PRINTER = "import json, os, sys; open(sys.argv[1], 'w').write(json.dumps(dict(os.environ)))"


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[World]:
    """A daemon with a secret in its environment and one in its vault, providers that use both, and a stranger's."""
    scripts = tmp_path / "keep"
    scripts.mkdir()
    script = {
        "record": str(tmp_path / "record"),
        # An agent that tells everybody what it was given.
        "prompts": [
            [
                {"stderr": f"my key is {BY_VARIABLE} and {BY_VAULT}\n"},
                {"tool_call": {"toolCallId": "t1", "title": f"curl -H {BY_VAULT}", "kind": "fetch"}},
                {"tool_update": {"toolCallId": "t1", "status": "completed", "title": BY_VARIABLE}},
                {"exit": 3},
            ]
        ],
    }
    talker = json.dumps(f"{fake_agent_command(scripts, script, name='talker')} --api-key {IN_PROVIDER}")
    printer = f"{sys.executable} -c {json.dumps(PRINTER)} {tmp_path / 'environment'}"
    fails = "sh -c 'echo $HOUSE_KEY $OTHER_KEY >&2; exit 4'"
    slots = (
        '[[providers.{0}.credential_slots]]\nname = "a"\ntarget_env = "HOUSE_KEY"\nsecret_ref = "env:PLANTED_KEY"\n'
        '[[providers.{0}.credential_slots]]\nname = "b"\ntarget_env = "OTHER_KEY"\nsecret_ref = "vault:mcp/house/b"\n'
    )
    config = "".join(
        f"[providers.{name}]\ncommand = {json.dumps(command) if command != talker else talker}\n" + slots.format(name)
        for name, command in (("talker", talker), ("printer", printer), ("fails", fails))
    )
    config += "[tools]\nhosted_mcp_enabled = false\n"
    config += f'[[mcp_servers]]\nname = "written"\ncommand = "w"\nargs = ["--api-key", "{ARGUMENT}"]\n'
    config += f'[mcp_servers.env]\nW_TOKEN = "{SHARED}"\n'
    world = World(tmp_path, config=config)
    world.daemon.environment |= {"PLANTED_KEY": BY_VARIABLE, "UNRELATED_SECRET": UNRELATED}
    world.daemon.home.create()
    Vault(world.daemon.home, {}).set("mcp/house/b", BY_VAULT)
    shared = {"command": "shared-srv", "args": ["--token", ARGUMENT], "env": {"SHARED_TOKEN": SHARED}}
    world.daemon.home.mcp_file.write_text(json.dumps({"mcpServers": {"shared": shared}}))
    world.start()
    yield world
    world.end()


def _write_servers(world: World, agent: str) -> None:
    servers = {
        "probe": {
            "command": "probe-srv",
            "env": {"SERVICE_TOKEN": LITERAL, "MODE": "${RUN_MODE}"},
            "secret_env": {"V": "vault:mcp/house/b", "E": "env:PLANTED_KEY"},
        }
    }
    (world.daemon.home.agents / agent / "mcp.json").write_text(json.dumps({"mcpServers": servers}))


def test_a_slot_reaches_the_agent_and_nothing_else_of_the_daemons_environment_does(planted: World) -> None:
    planted.write_agent(planted.daemon.home.agents, "shown", provider="printer")
    session = planted.create("shown")
    with pytest.raises(ApiError):
        planted.post(session, "/prompt", planted.prompt_body("go"))
    environment = json.loads((planted.folder / "environment").read_text())
    assert environment["HOUSE_KEY"] == BY_VARIABLE and environment["OTHER_KEY"] == BY_VAULT
    assert "UNRELATED_SECRET" not in environment and "PLANTED_KEY" not in environment


@pytest.mark.parametrize("what", ["status", "models"])
def test_the_commands_of_a_provider_get_no_secret_of_the_daemon(tmp_path: Path, what: str) -> None:
    seen = tmp_path / "environment"
    command = json.dumps(f"{sys.executable} -c {json.dumps(PRINTER)} {seen}")
    asked = f"auth_status_command = {command}" if what == "status" else ""
    listed = f"[providers.house.models.discovery]\nenabled = true\ncommand = {command}\n" if what == "models" else ""
    world = World(tmp_path, config=f'[providers.house]\ncommand = "x"\n{asked}\n{listed}')
    world.daemon.environment |= {"UNRELATED_SECRET": UNRELATED, "COMPOZY_SESSION_ID": "of-an-outer-session"}
    try:
        world.start()
        path = "/api/providers/house/auth/probe" if what == "status" else "/api/model-catalog/models/refresh"
        with contextlib.suppress(ApiError):
            world.client.request("POST", path, body={})
        environment = json.loads(seen.read_text())
    finally:
        world.end()
    assert "PATH" in environment
    assert "UNRELATED_SECRET" not in environment and "COMPOZY_SESSION_ID" not in environment


def test_a_terminal_of_an_agent_gets_no_secret_of_the_daemon(own_world: World) -> None:
    world = own_world
    world.daemon.stop()
    world.daemon.environment["UNRELATED_SECRET"] = UNRELATED
    world.end()
    world.daemon.start()
    seen = world.workspace / "environment"
    argv = [sys.executable, "-c", PRINTER, str(seen)]
    step = {"terminal": argv, "env": {"OWN": "1"}, "wait": True, "release": True}
    session = world.create(world.agent("terminals", {"prompts": [[step]]}), permissions="approve-all")
    world.prompt(session)
    environment = json.loads(seen.read_text())
    assert environment["OWN"] == "1" and "UNRELATED_SECRET" not in environment


def test_servers_get_their_secrets_and_literals_exactly_as_written(planted: World) -> None:
    planted.write_agent(planted.daemon.home.agents, "tooled", provider="talker")
    _write_servers(planted, "tooled")
    session = planted.create("tooled")
    planted.prompt(session)
    opened = next(m["params"] for m in received(planted.folder / "record") if m.get("method") == "session/new")
    assert isinstance(opened, dict)
    servers = {server["name"]: server for server in opened["mcpServers"]}
    assert servers["shared"]["args"] == ["--token", ARGUMENT]
    assert servers["shared"]["env"] == [{"name": "SHARED_TOKEN", "value": SHARED}]
    env = {row["name"]: row["value"] for row in servers["probe"]["env"]}
    assert env == {"E": BY_VARIABLE, "V": BY_VAULT, "SERVICE_TOKEN": LITERAL, "MODE": "${RUN_MODE}"}


@pytest.mark.parametrize("place", ["inline", "sidecar"])
def test_a_dollar_sign_in_a_value_stays_as_it_is_written(plain_world: World, place: str) -> None:
    world = plain_world
    record = world.folder / "record"
    server = {"command": "probe-srv", "env": {"MODE": "${RUN_MODE}"}}
    fields = {"mcp_servers": json.dumps([{"name": "probe", **server}])} if place == "inline" else {}
    name = world.agent(f"dollar-{place}", {"record": str(record)}, **fields)
    if place == "sidecar":
        (world.daemon.home.agents / name / "mcp.json").write_text(json.dumps({"mcpServers": {"probe": server}}))
    world.prompt(world.create(name))
    opened = next(m["params"] for m in received(record) if m.get("method") == "session/new")
    assert isinstance(opened, dict)
    assert opened["mcpServers"][0]["env"] == [{"name": "MODE", "value": "${RUN_MODE}"}]


# What stands for each parameter of a path, and for `{name}` in the routes where it is no agent.
_NAMES = {"/api/settings/providers/{name}": "talker", "/api/mcp/servers/{name}": "shared"}


def _answers(world: World, session: dict[str, object], agent: str = "tooled") -> Iterator[str]:
    """Yield what every reading route of the table answers, with and without its workspace and agent."""
    known = {
        "session_id": str(session["id"]),
        "workspace_id": str(session["workspace_id"]),
        "name": agent,
        "role": "auto_title",
        "provider_id": "talker",
        "attachment_id": "art_0",
        "artifact_id": "art_0",
        "id": "compozy__bootstrap",
    }
    everything = {
        "workspace": known["workspace_id"],
        "workspace_id": known["workspace_id"],
        "session_id": known["session_id"],
        "agent": agent,
        "agent_name": agent,
        "view": "all",
        "include_health": "true",
    }
    for route in ALL_ROUTES:
        if route.method != "GET":
            continue
        path = route.path
        for name, value in (known | {"name": _NAMES.get(route.path, agent)}).items():
            path = path.replace("{" + name + "}", value)
        assert "{" not in path, f"say what stands for the parameters of {route.path}"
        given = {name: value for name, value in everything.items() if name in route.query}
        for query in ({}, given, {"frames": "raw"}) if route.streams else ({}, given):
            yield _answer(world, path, query, streams=route.streams)


def _answer(world: World, path: str, query: dict[str, str], *, streams: bool) -> str:
    try:
        if not streams:
            return world.client.request("GET", path, query=query).body.decode()
        # What a stream tells at once; nothing more happens here.
        with world.daemon.client() as client, client.stream("GET", path, query=query, tick=0.3) as stream:
            said = []
            for event in stream:
                if event is None:
                    break
                said.append(event.data)
            return "\n".join(said)
    except ApiError as error:
        return json.dumps(error.envelope)


def test_no_planted_secret_is_found_in_the_home_or_in_any_answer(planted: World) -> None:
    home = planted.daemon.home
    planted.write_agent(home.agents, "tooled", provider="talker")
    planted.write_agent(home.agents, "broken", provider="fails")
    _write_servers(planted, "tooled")
    own = f"{fake_agent_command(planted.folder, {}, name='own')} --token '{IN_COMMAND}'"
    planted.write_agent(home.agents, "worded", command=json.dumps(own))
    said: list[str] = []
    worded = planted.create("worded")
    planted.prompt(worded)
    said += _answers(planted, worded, "worded")
    session = planted.create("tooled")
    stream = planted.prompt(session)
    said += [json.dumps(frame) for frame in stream.frames]
    with pytest.raises(ApiError) as refused:
        planted.post(planted.create("broken"), "/prompt", planted.prompt_body("go"))
    said += [json.dumps(refused.value.envelope), str(refused.value)]
    said += _answers(planted, session)
    for words in (
        ("agent", "info", "tooled", "-o", "json"),
        ("agent", "resolve", "tooled"),
        ("agent", "resolve", "worded"),
        ("agent", "info", "worded", "-o", "json"),
        ("agent", "inspect", str(home.agents / "worded")),
        ("agent", "check", str(home.agents)),
        ("agent", "which", "worded", "-o", "json"),
        ("provider", "status", "talker", "-o", "json"),
        ("session", "events", str(session["id"])),
        ("vault", "list", "-o", "json"),
        ("mcp", "list", "--agent", "tooled", "-o", "json"),
        ("mcp", "explain", "--agent", "tooled"),
        ("config", "explain", "providers"),
        ("config", "explain", "mcp_servers"),
        ("config", "show", "--all", "-o", "json"),
        ("config", "get", "mcp_servers"),
        ("config", "list", "-o", "json"),
        ("provider", "list", "-o", "json"),
        ("provider", "status", "talker"),
        ("doctor",),
        ("daemon", "processes"),
        ("session", "list", "--all", "-o", "json"),
        ("trust", "show", "--workspace", str(planted.workspace)),
        ("config", "show"),
        ("doctor", "--bundle"),
        ("status",),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "compozy", *words],
            env=planted.daemon.environment,
            cwd=planted.workspace,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "Traceback" not in done.stderr
        said += [done.stdout, done.stderr]
    planted.daemon.stop()
    authored = {home.config_file, home.mcp_file, *home.agents.rglob("*")}
    files = {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file() and path not in authored}
    assert home.database in files and home.log_file in files
    for secret in SECRETS:
        spellings = (secret.encode(), base64.b64encode(secret.encode())[:16])
        for spelling in spellings:
            assert [str(path) for path, data in files.items() if spelling in data] == [], secret
            assert [text[:2000] for text in said if spelling.decode() in text] == [], secret
