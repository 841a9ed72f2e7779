"""How a turn goes over a real pipe with an independent client: what it shows, asks, writes, refuses and cancels."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest
from acp import RequestError

from compozy import __version__ as product_version
from compozy_offline_agent import __version__
from tests.kit.sdk_client import BOUND, SdkClient, connect, reject

pytestmark = pytest.mark.anyio

TASK = "Where are failed payments retried?"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/payments.py").write_text(
        "import time\n\n\ndef retry_failed_payment(order):\n    time.sleep(1)\n"
    )
    (tmp_path / "src/cart.py").write_text("def add(item):\n    return item\n")
    (tmp_path / "README.md").write_text("# Shop\n\nSells things.\n")
    return tmp_path


async def test_the_first_words_say_that_no_language_model_is_used(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        assert "no language model" in session.initialized.agent_info.title
        await session.prompt(TASK)
        first, client.updates = client.text, []
        await session.prompt(TASK)
    assert first.startswith("I am the offline agent. I use no language model")
    assert "language model" not in client.text and "src/payments.py:4" in client.text


async def test_it_advertises_only_what_it_can_do(shop: Path, agent_argv: list[str]) -> None:
    async with connect(agent_argv, SdkClient(shop)) as session:
        assert session.initialized.protocol_version == 1
        assert session.initialized.agent_capabilities.load_session is False
        assert session.initialized.auth_methods == []
        assert [mode.id for mode in session.created.modes.available_modes] == ["default", "read-only", "full-access"]
        assert session.created.config_options is None, "a model cannot be chosen where there is none"


def test_its_version_is_that_of_the_product() -> None:
    assert __version__ == product_version


async def test_a_turn_shows_its_plan_and_every_call_ends(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        outcome = await session.prompt(TASK)
    assert outcome.stop_reason == "end_turn" and outcome.usage is None
    first, last = client.plans[0].entries, client.plans[-1].entries
    assert [entry.status for entry in first] == ["in_progress", "pending", "pending"]
    assert [entry.status for entry in last] == ["completed"] * 3
    assert [call.kind for call in client.tool_calls] == ["search", "read"]
    assert all(client.last_status(call.tool_call_id) == "completed" for call in client.tool_calls)
    assert {Path(one.path).name for one in client.tool_calls[1].locations} == {"payments.py", "cart.py", "README.md"}
    assert client.asked == [] and client.commands == [], "reading needs neither permission nor a terminal"


async def test_every_file_is_read_through_the_client(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        await session.prompt(TASK)
    assert sorted(client.read_paths) == sorted(str(path) for path in shop.rglob("*") if path.is_file())


async def test_findings_are_written_after_asking_and_hold_the_place(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        await session.prompt(TASK + " Write the findings to notes/found.md.")
    (asked,) = client.asked
    assert asked.kind == "edit" and [one.path for one in asked.locations] == [str(shop / "notes/found.md")]
    text = (shop / "notes/found.md").read_text()
    assert "src/payments.py:4" in text and "no language model" in text and TASK in text
    assert "I wrote the findings to notes/found.md." in client.text
    assert client.plans[-1].entries[-1].status == "completed"


async def test_its_own_findings_file_is_no_source_for_the_next_answer(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        await session.prompt(TASK + " Write the findings to found.md.")
        client.updates = []
        await session.prompt(TASK)
    assert "found.md" not in client.text and "1 of my own findings" in client.text


async def test_a_denied_write_leaves_nothing_and_is_said(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop, permit=reject)
    async with connect(agent_argv, client) as session:
        outcome = await session.prompt(TASK + " Write the findings to notes/found.md.")
    assert outcome.stop_reason == "end_turn"
    assert not (shop / "notes").exists() and client.written == {}
    assert "not allowed to write notes/found.md" in client.text and "src/payments.py:4" in client.text
    assert client.last_status(client.tool_calls[-1].tool_call_id) == "failed"


async def test_always_allowing_is_remembered_for_the_session(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop, permit=lambda _call: "allow_always")
    async with connect(agent_argv, client) as session:
        await session.prompt(TASK + " Write the findings to one.md.")
        await session.prompt(TASK + " Write the findings to two.md.")
    assert len(client.asked) == 1 and set(client.written) == {"one.md", "two.md"}


@pytest.mark.parametrize("target", ["../out.md", "/tmp/out.md", "src/", "new/", '"src/../../out.md"'])
async def test_a_place_that_cannot_be_written_is_not_even_asked_for(
    shop: Path, agent_argv: list[str], target: str
) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        await session.prompt(f"{TASK} Write the findings to {target}")
    assert client.asked == [] and client.written == {}
    assert "I did not write" in client.text


async def test_read_only_mode_neither_writes_nor_asks(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        await session.set_mode("read-only")
        await session.prompt(TASK + " Write the findings to found.md.")
        with pytest.raises(RequestError):
            await session.set_mode("unheard-of")
    assert client.asked == [] and client.written == {} and "read-only" in client.text


async def test_full_access_lists_with_a_program_after_asking(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        await session.set_mode("full-access")
        await session.prompt(TASK)
    assert [call.kind for call in client.asked] == ["execute"]
    assert client.commands == [["find", ".", "-type", "f", "-print0"]]
    assert client.released == ["term-1"]
    assert "src/payments.py:4" in client.text


@pytest.mark.parametrize("refusal", ["permission", "terminal"])
async def test_without_the_terminal_it_still_does_its_job(shop: Path, agent_argv: list[str], refusal: str) -> None:
    client = SdkClient(shop, terminals=False)
    if refusal == "permission":
        client.permit = reject
    async with connect(agent_argv, client) as session:
        await session.set_mode("full-access")
        await session.prompt(TASK)
    assert len(client.commands) == (0 if refusal == "permission" else 1)
    assert [call.kind for call in client.tool_calls] == ["execute", "search", "read"]
    assert "src/payments.py:4" in client.text


async def test_a_git_workspace_is_listed_by_git(shop: Path, agent_argv: list[str]) -> None:
    subprocess.run(["git", "init", "-q"], cwd=shop, check=True)
    (shop / ".gitignore").write_text("generated/\n")
    (shop / "generated").mkdir()
    (shop / "generated/payments.py").write_text("def retry_failed_payment(): ...\n")
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        await session.set_mode("full-access")
        await session.prompt(TASK)
    assert client.commands[0][0] == "git"
    assert "generated" not in client.text and "src/payments.py:4" in client.text


async def test_a_client_that_refuses_every_read_is_believed(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop, reads=False)
    async with connect(agent_argv, client) as session:
        outcome = await session.prompt(TASK)
    assert outcome.stop_reason == "end_turn"
    assert len(client.read_paths) == 3 and "let me read none" in client.text
    assert client.last_status(client.tool_calls[-1].tool_call_id) == "failed"


async def test_a_client_without_files_is_told_so(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client, fs=False) as session:
        outcome = await session.prompt(TASK)
    assert outcome.stop_reason == "end_turn" and "does not let me read files" in client.text


async def test_a_task_without_a_match_says_so(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        await session.prompt("Where is the zeppelin moored?")
    assert "No file has a match for `zeppelin`, `moored`" in client.text and "**1." not in client.text


async def test_an_empty_workspace_says_so(tmp_path: Path, agent_argv: list[str]) -> None:
    client = SdkClient(tmp_path)
    async with connect(agent_argv, client) as session:
        outcome = await session.prompt(TASK)
    assert outcome.stop_reason == "end_turn" and "There is no file to read here" in client.text


@pytest.mark.parametrize("text", ["", "   ", "?!", "the of and"])
async def test_a_task_without_words_asks_for_some(shop: Path, agent_argv: list[str], text: str) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        outcome = await session.prompt(text)
    assert outcome.stop_reason == "end_turn" and "Name what you look for" in client.text


async def test_a_wish_for_a_change_is_answered_with_where_it_would_go(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        await session.prompt("Fix how failed payments are retried")
    assert "I cannot make one" in client.text and "src/payments.py:4" in client.text


async def test_files_that_are_no_text_or_cannot_be_read_are_counted_and_the_rest_is_used(
    shop: Path, agent_argv: list[str]
) -> None:
    (shop / "blob.txt").write_bytes(b"retry\0failed payment" * 50)
    (shop / "latin.txt").write_bytes("r\xe9essayer failed payment".encode("latin-1"))
    (shop / "huge.txt").write_text("failed payment\n" * 60_000)
    (shop / "link.py").symlink_to("/etc/passwd")
    (shop / "dangling.py").symlink_to("nowhere")
    (shop / "Überweisung – fehlgeschlagen.md").write_text("# Failed payments\n\nNaïve retry 🙂\n", encoding="utf-8")
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        await session.prompt(TASK)
    assert "2 link" in client.text and "1 larger than 512 KiB" in client.text
    assert "1 binary inside" in client.text and "1 not given by the client" in client.text
    assert "Überweisung – fehlgeschlagen.md:1" in client.text and "src/payments.py:4" in client.text
    assert not any("passwd" in path for path in client.read_paths)


async def test_what_a_file_or_its_name_holds_cannot_move_a_terminals_cursor(
    shop: Path, agent_argv: list[str]
) -> None:
    (shop / "evil\x1b[2J\nname.py").write_text("retry = 'failed payment \x1b[31mred\x07 \x9b2J'\n\tretry\n")
    (shop / os.fsdecode(b"n\xffme.py")).write_text("retry failed payment\n")
    client = SdkClient(shop)
    async with connect(agent_argv, client) as session:
        await session.prompt(TASK + " Write the findings to found.md.")
    told = client.text + client.written["found.md"] + "".join(call.title for call in client.tool_calls)
    assert "name.py:1" in told and "red" in told
    assert not set(told) & {chr(code) for code in (*range(9), *range(11, 32), 0x7F, *range(0x80, 0xA0))}
    assert "1 not given by the client" in told, "a name that is no text cannot be asked for"


async def test_a_cancel_while_reading_ends_the_turn_and_its_calls(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    client.gate = asyncio.Event()
    async with connect(agent_argv, client) as session:
        running = asyncio.create_task(session.prompt(TASK))
        await asyncio.wait_for(client.reading.wait(), BOUND)
        await session.cancel()
        outcome = await running
        assert outcome.stop_reason == "cancelled"
        assert client.last_status(client.tool_calls[-1].tool_call_id) == "failed"
        client.gate.set()
        client.updates = []
        assert (await session.prompt(TASK)).stop_reason == "end_turn", "the next turn starts clean"
    assert "src/payments.py:4" in client.text


async def test_a_cancel_while_a_permission_is_pending_writes_nothing(shop: Path, agent_argv: list[str]) -> None:
    client = SdkClient(shop)
    client.answer_permission = False
    async with connect(agent_argv, client) as session:
        running = asyncio.create_task(session.prompt(TASK + " Write the findings to found.md."))
        await asyncio.wait_for(client.pending_permission.wait(), BOUND)
        await session.cancel()
        assert (await running).stop_reason == "cancelled"
    assert not (shop / "found.md").exists()


async def test_a_second_prompt_in_a_running_turn_is_refused_and_a_late_cancel_harms_nobody(
    shop: Path, agent_argv: list[str]
) -> None:
    client = SdkClient(shop)
    client.gate = asyncio.Event()
    async with connect(agent_argv, client) as session:
        running = asyncio.create_task(session.prompt(TASK))
        await asyncio.wait_for(client.reading.wait(), BOUND)
        with pytest.raises(RequestError, match="a turn is running"):
            await session.prompt(TASK)
        client.gate.set()
        assert (await running).stop_reason == "end_turn"
        await session.cancel()
        assert (await session.prompt(TASK)).stop_reason == "end_turn"


def lines_of(agent_argv: list[str], root: Path, *sent: bytes) -> list[dict[str, object]]:
    """Send raw lines, close the pipe, and return what came back."""
    done = subprocess.run(agent_argv, input=b"\n".join(sent) + b"\n", capture_output=True, cwd=root, timeout=BOUND)
    assert done.returncode == 0 and done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_junk_on_the_pipe_is_answered_and_survived(shop: Path, agent_argv: list[str]) -> None:
    new = json.dumps({"jsonrpc": "2.0", "id": "new", "method": "session/new", "params": {"cwd": str(shop / "gone")}})
    answers = lines_of(
        agent_argv, shop, b"junk", b"null", b"42", b"[]", b"", b"\xff\xfe", b'{"id":1}',
        b'{"jsonrpc":"2.0","id":7,"result":{}}', b'{"jsonrpc":"2.0","method":"what/ever"}',
        b'{"jsonrpc":"2.0","id":2,"method":"no/such"}',
        b'{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}',
        new.encode(), b'{"jsonrpc":"2.0","id":4,"method":"initialize","params":null}',
    )  # fmt: skip
    codes = [answer["error"]["code"] for answer in answers[:-1]]  # type: ignore[index]
    assert codes == [-32700, -32600, -32600, -32600, -32700, -32600, -32601, -32002, -32602]
    assert answers[-1]["id"] == 4 and "result" in answers[-1]


def test_it_leaves_when_the_client_goes_in_the_middle_of_a_turn(shop: Path, agent_argv: list[str]) -> None:
    process = subprocess.Popen(agent_argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=shop)
    assert process.stdin is not None and process.stdout is not None
    stdin = process.stdin

    def send(**message: object) -> None:
        stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    try:
        send(id=1, method="initialize", params={"clientCapabilities": {"fs": {"readTextFile": True}}})
        send(id=2, method="session/new", params={"cwd": str(shop), "mcpServers": []})
        process.stdin.flush()
        process.stdout.readline()
        session = json.loads(process.stdout.readline())["result"]["sessionId"]
        send(id=3, method="session/prompt", params={"sessionId": session, "prompt": [{"type": "text", "text": TASK}]})
        process.stdin.flush()
        while b"fs/read_text_file" not in process.stdout.readline():
            pass
        process.stdin.close()
        assert process.wait(BOUND) == 0
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def test_the_program_tells_about_itself_without_a_client(agent_argv: list[str]) -> None:
    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*agent_argv, *args], capture_output=True, text=True, timeout=BOUND)

    assert run("--version").stdout == f"compozy-offline-agent {__version__}\n"
    assert "no language model" in run("--help").stdout
    assert run("--bogus").returncode == 2 and "'--bogus'" in run("--bogus").stderr


def test_it_imports_nothing_beyond_the_standard_library(agent_argv: list[str]) -> None:
    code = "import sys, compozy_offline_agent.__main__; print(*{name.partition('.')[0] for name in sys.modules})"
    env = {"PYTHONPATH": os.fspath(Path(__file__).resolve().parents[3] / "src"), "PATH": os.environ["PATH"]}
    command = [agent_argv[0], "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BOUND, env=env)
    assert done.returncode == 0, done.stderr
    assert not {"compozy", "asyncio", "msgspec"} & set(done.stdout.split())
