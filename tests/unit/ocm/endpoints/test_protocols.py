"""A2A, MCP and model endpoints: the protocol's own words, answers and refusals (OCM §5; issue 8 item 6)."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from compozy.ocm import bind_endpoint
from compozy.ocm.endpoints.calls import Call, Options, Reply
from compozy.ocm.endpoints.errors import EndpointFailed, EndpointRefused
from tests.kit.endpoint_server import EndpointServer, endpoint_server
from tests.kit.fake_models import model_server

ROOT = Path(__file__).resolve().parents[4]
SECRET = "s3cret-value"
pytestmark = pytest.mark.anyio


async def ask(
    url: str, protocol: str, call: Call | None = None, *, options: Options | None = None, **fields: object
) -> Reply:
    row = {"protocol": protocol, "url": url, **({"auth": "bearer"} if options and options.credential else {})}
    document = {"ocm": "1", "id": "acme/x", "kind": "llm", "description": "d", "endpoints": [row], **fields}
    bound = bind_endpoint(document, options=options or Options(timeout=30), secrets=lambda reference: SECRET)
    return await bound.ask(call or Call(task="pay 12"))


async def failure(url: str, protocol: str, **more: object) -> EndpointFailed:
    with pytest.raises(EndpointFailed) as caught:
        await ask(url, protocol, **more)  # type: ignore[arg-type]
    return caught.value


# A2A


async def test_a_task_is_sent_in_the_words_of_a2a_1_0_and_awaited(server: EndpointServer) -> None:
    call = Call(task="pay 12", context={"locale": "no"}, conversation="c0", request_id="r1")
    reply = await ask(server.url + "/a2a", "a2a", call)
    # Nothing of the history: those are our own words.
    assert (reply.text, reply.state, reply.success) == ("order 12\npaid back", "completed", True)
    assert (reply.conversation, reply.attempts) == ("c1", 2)
    sent, polled = server.seen
    assert sent.headers["a2a-version"] == "1.0" and isinstance(sent.body, dict)
    assert sent.body["method"] == "SendMessage"
    assert sent.body["params"]["message"] == {
        "messageId": "r1",
        "role": "ROLE_USER",
        "parts": [{"text": "pay 12"}],
        "contextId": "c0",
        "metadata": {"locale": "no"},
    }
    assert isinstance(polled.body, dict)
    assert (polled.body["method"], polled.body["params"]) == ("GetTask", {"id": "t1"})


async def test_a_server_that_only_knows_a2a_0_3_is_spoken_to_in_its_words(server: EndpointServer) -> None:
    reply = await ask(server.url + "/a2a-old", "a2a")
    assert (reply.text, reply.state) == ("in the old words", "completed")
    methods = [one.body["method"] for one in server.seen if isinstance(one.body, dict)]
    assert methods == ["SendMessage", "message/send", "tasks/get"]
    assert isinstance(server.seen[1].body, dict)
    assert server.seen[1].body["params"]["message"]["parts"] == [{"kind": "text", "text": "pay 12"}]


async def test_a_message_is_an_answer_and_a_question_is_handed_back(server: EndpointServer) -> None:
    reply = await ask(server.url + "/a2a-message", "a2a")
    assert (reply.text, reply.conversation) == ("hello back", "c9")
    reply = await ask(server.url + "/a2a-asks", "a2a")
    assert (reply.text, reply.state, reply.success) == ("which order?", "input-required", False)


async def test_a_task_that_failed_says_why(server: EndpointServer) -> None:
    error = await failure(server.url + "/a2a-failed", "a2a")
    assert error.message.endswith("ended the task as failed: the printer is on fire")


async def test_a_poll_that_fails_is_repeated_the_message_is_not(server: EndpointServer) -> None:
    assert (await ask(server.url + "/a2a-flaky", "a2a")).text == "order 12\npaid back"
    methods = [one.body["method"] for one in server.seen if isinstance(one.body, dict)]
    assert methods == ["SendMessage", "GetTask", "GetTask"]


@pytest.mark.parametrize(
    ("path", "told"), [("/a2a-array", "a JSON list"), ("/html", "no JSON"), ("/echo", "no JSON-RPC result")]
)
async def test_what_is_no_a2a_server_is_told(server: EndpointServer, path: str, told: str) -> None:
    server.seen.clear()
    call = Call(task="x")
    with pytest.raises(EndpointFailed, match=told):
        await ask(server.url + path, "a2a", call)


async def test_a_task_without_end_is_left_at_the_time_limit(server: EndpointServer) -> None:
    # Where the machine is so busy that the task had not even begun, with more time.
    for seconds in (0.5, 2, 8, 30):
        error = await failure(server.url + "/a2a-endless", "a2a", options=Options(timeout=seconds))
        assert error.code == "endpoint_timeout"
        if is_told := "may still be going on there" in error.message:
            break
    assert is_told, error.message


# MCP


@contextmanager
def mcp_server(which: str) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.kit.mcp_tools", which]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@pytest.fixture(scope="module")
def one_tool() -> Iterator[str]:
    with mcp_server("one") as url:
        yield url


@pytest.fixture(scope="module")
def many_tools() -> Iterator[str]:
    with mcp_server("many") as url:
        yield url


async def test_the_only_tool_of_an_mcp_server_takes_the_task(one_tool: str) -> None:
    reply = await ask(one_tool, "mcp")
    assert reply.text == "PAY 12" and isinstance(reply.data, dict)


async def test_one_of_many_tools_is_named_by_the_manifest_or_the_caller(many_tools: str) -> None:
    assert (await ask(many_tools, "mcp", metadata={"mcp": {"name": "shout"}})).text == "PAY 12"
    call = Call(task="", arguments={"left": 2, "right": 3})
    assert (await ask(many_tools, "mcp", call, options=Options(tool="add", timeout=30))).text == "5"


async def test_a_tool_that_is_not_named_not_there_or_wants_more_is_refused(many_tools: str) -> None:
    for options, told in (
        (Options(), "offers several tools, and none is named: it has shout, fail, add"),
        (Options(tool="sing"), "has no tool 'sing'"),
        (Options(tool="add"), "takes left, right: give them"),
    ):
        with pytest.raises(EndpointRefused, match=told):
            await ask(many_tools, "mcp", options=options)


async def test_a_tool_that_reports_an_error_is_a_failure(many_tools: str) -> None:
    error = await failure(many_tools, "mcp", options=Options(tool="fail"))
    assert error.code == "endpoint_error" and "the tool reports an error" in error.message


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/html", "endpoint_answer"),
        ("/wants-bearer", "endpoint_denied"),
        ("/gateway", "endpoint_unavailable"),
        ("/big", "endpoint_too_large"),
        ("/found", "endpoint_redirect"),
        ("/moved-away", "endpoint_redirect"),
    ],
)
async def test_what_is_no_mcp_server_is_told(server: EndpointServer, path: str, code: str) -> None:
    with endpoint_server() as other:
        server.elsewhere = other.url
        error = await failure(server.url + path, "mcp", options=Options(timeout=20))
        assert (error.code, other.seen) == (code, [])


async def test_an_mcp_server_that_hangs_ends_with_the_time_limit(server: EndpointServer) -> None:
    error = await failure(server.url + "/hang", "mcp", options=Options(timeout=2))
    assert error.code == "endpoint_timeout"


# Models


@pytest.fixture(scope="module")
def models() -> Iterator[str]:
    with model_server() as url:
        yield url


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/chat/completions"])
async def test_a_model_answers(models: str, path: str) -> None:
    reply = await ask(models + path, "openai", Call(task="pay 12"), metadata={"model": "fake-model"})
    assert (reply.text, reply.success, reply.usage["total"]) == ("ok", True, 120)


async def test_only_the_named_credential_and_plain_headers_leave(
    server: EndpointServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs-not-yours")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    await failure(server.url, "openai", options=Options(credential="env:KEY", timeout=20))
    (seen,) = server.seen
    assert seen.path == "/chat/completions" and seen.headers["authorization"] == f"Bearer {SECRET}"
    assert "private" not in repr(seen) and "theirs" not in repr(seen)
    assert not [name for name in seen.headers if name.startswith("x-stainless")]


async def test_instructions_and_history_go_before_the_task(server: EndpointServer) -> None:
    history = ({"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes?"})
    call = Call(task="pay 12", history=history)
    with pytest.raises(EndpointFailed):
        await ask(server.url, "openai", call, options=Options(model="m", timeout=20), instructions="Be brief.")
    body = server.seen[0].body
    assert isinstance(body, dict) and body["model"] == "m"
    assert [(one["role"], one["content"]) for one in body["messages"]] == [
        ("system", "Be brief."),
        ("user", "hi"),
        ("assistant", "yes?"),
        ("user", "pay 12"),
    ]
    with pytest.raises(EndpointRefused, match=r"not of the form \{role, content\}"):
        await ask(server.url, "openai", Call(task="x", history=({"role": "tool"},)))


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/html", "endpoint_answer"),
        ("/list", "endpoint_answer"),
        ("/empty", "endpoint_answer"),
        ("/echo", "endpoint_answer"),
        ("/big", "endpoint_too_large"),
        ("/found", "endpoint_redirect"),
        ("/cut", "endpoint_broken"),
        ("/gateway", "endpoint_unavailable"),
        ("/wants-bearer", "endpoint_denied"),
        ("/teapot", "endpoint_error"),
    ],
)
async def test_what_is_no_model_is_told_and_not_asked_twice(server: EndpointServer, path: str, code: str) -> None:
    # The SDK adds its own path: serve the same at the end of it.
    server.alias = path
    error = await failure(server.url, "openai", options=Options(timeout=20))
    assert (error.code, len(server.seen)) == (code, 1)


async def test_a_model_that_hangs_ends_with_the_time_limit(server: EndpointServer) -> None:
    server.alias = "/hang"
    error = await failure(server.url, "openai", options=Options(timeout=1))
    assert error.code == "endpoint_timeout"


async def test_without_the_extra_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.delitem(sys.modules, "compozy.ocm.endpoints.over_openai", raising=False)
    from compozy.ocm import endpoints

    monkeypatch.delattr(endpoints, "over_openai", raising=False)
    with pytest.raises(EndpointRefused, match=r"need the extra `openai`: .* -m pip install 'openai>=") as caught:
        await ask("https://models.invalid/v1", "openai")
    assert caught.value.code == "endpoint_extra"
