"""What a configured MCP server is started or reached with (reports P35, P36, P40; decisions D19)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from compozy.config.environment import server_environment
from compozy.config.home import Home
from compozy.config.redaction import Redactor
from compozy.config.secrets import Secrets
from compozy.config.vault import Vault
from compozy.model.definition import McpAuth, McpServer
from compozy.model.errors import Unprocessable
from compozy.runtime.mcp_servers import start_of

PRINTER = "import json, os; print(json.dumps(dict(os.environ)))"
# What a daemon may have in its environment.
DAEMON = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/ann",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "UNRELATED_SECRET": "1",
    "UNRELATED": "2",
    "AWS_PROFILE": "work",
    "COMPOZY_HOME": "/home/ann/.compozy",
    "COMPOZY_SESSION_ID": "outer",
    "PYTHONPATH": "/somewhere",
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


def secrets(home: Home, **environ: str) -> Secrets:
    return Secrets(home, Redactor(), environ)


def test_a_server_sees_the_documented_base_and_its_own_keys_and_nothing_else(home: Home) -> None:
    server = McpServer(
        name="printer",
        command=sys.executable,
        args=("-S", "-c", PRINTER),
        env={"MODE": "${RUN_MODE}"},
        secret_env={"KEY": "env:DECLARED_KEY"},
    )
    start = start_of(server, secrets(home, DECLARED_KEY="of-the-server", UNRELATED_SECRET="1"))
    done = subprocess.run(
        start.argv, env=server_environment(start.env, DAEMON), capture_output=True, text=True, check=True, timeout=60
    )
    # The interpreter itself adds LC_CTYPE in some locales.
    seen = {name: value for name, value in json.loads(done.stdout).items() if name != "LC_CTYPE"}
    base = {name: DAEMON[name] for name in ("PATH", "HOME", "LANG", "LC_ALL")}
    assert seen == {**base, "MODE": "${RUN_MODE}", "KEY": "of-the-server"}


def test_a_remote_server_gets_its_headers_and_its_client_secret(home: Home) -> None:
    Vault(home, {}).set("mcp/r/key", "of-the-vault")
    server = McpServer(
        name="r",
        url="https://r.example/mcp",
        headers={"X-Team": "blue"},
        secret_headers={"X-Key": "vault:mcp/r/key"},
        auth=McpAuth(registration="pre_registered", client_secret_ref="env:CLIENT"),
    )
    start = start_of(server, secrets(home, CLIENT="of-the-client"))
    assert (start.argv, start.env, start.url) == ((), {}, "https://r.example/mcp")
    assert start.headers == {"X-Team": "blue", "X-Key": "of-the-vault"} and start.client_secret == "of-the-client"


@pytest.mark.parametrize(
    ("server", "key"),
    [
        (McpServer(name="s", command="x", secret_env={"API_BASE": "env:NOT_SET_ANYWHERE"}), "API_BASE"),
        (McpServer(name="s", url="https://x", secret_headers={"X-Key": "env:NOT_SET_ANYWHERE"}), "X-Key"),
        (
            McpServer(name="s", url="https://x", auth=McpAuth(client_secret_ref="env:NOT_SET_ANYWHERE")),
            "client_secret_ref",
        ),
    ],
)
@pytest.mark.parametrize("environ", [{}, {"NOT_SET_ANYWHERE": ""}])
def test_a_reference_that_leads_nowhere_names_server_key_and_variable(
    home: Home, server: McpServer, key: str, environ: dict[str, str]
) -> None:
    with pytest.raises(Unprocessable) as refused:
        start_of(server, secrets(home, **environ))
    assert all(word in refused.value.message for word in ("'s'", key, "NOT_SET_ANYWHERE"))
