"""Files with a prompt, over the real daemon: kept, sent as agents take them, shown, and given again (§3.5, §5.4)."""

import base64
import hashlib
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from acp import schema

from compozy.client import ApiError
from compozy.client.multipart import one_file
from tests.kit.agents import received
from tests.kit.daemons import wait_until
from tests.kit.sessions import World

PDF = b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n"


def png(width: int = 3, height: int = 2) -> bytes:
    """Return a real image of that size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + b"\x10\x20\x30" * width for _ in range(height)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def upload(world: World, session: dict[str, Any], name: str, data: bytes) -> dict[str, Any]:
    content_type, body = one_file(name, data)
    answer = world.client.request(
        "POST", world.path(session, "/attachments"), body=body, headers={"content-type": content_type}
    )
    assert answer.status == 201
    found: dict[str, Any] = answer.json()["attachment"]  # type: ignore[index]
    return found


def _refused(world: World, session: dict[str, Any], name: str, data: bytes) -> ApiError:
    with pytest.raises(ApiError) as refused:
        upload(world, session, name, data)
    return refused.value


def _prompts(record: Path) -> list[list[dict[str, Any]]]:
    """Return the content blocks of the prompts an agent received, each judged by the official SDK."""
    found: list[list[dict[str, Any]]] = []
    for message in received(record):
        if message.get("method") == "session/prompt":
            params: Any = message["params"]
            read = schema.PromptRequest.model_validate(params).model_dump(by_alias=True, exclude_none=True)
            assert set(params) == set(read) and len(read["prompt"]) == len(params["prompt"])
            for sent, known in zip(params["prompt"], read["prompt"], strict=True):
                assert set(sent) == set(known) and sent["type"] == known["type"]
            found.append(params["prompt"])
    return found


def test_a_file_is_kept_as_it_came_and_can_be_read_and_deleted(world: World) -> None:
    world.agent("viewer")
    session = world.create("viewer")
    image = png(30, 20)
    kept = upload(world, session, "../../etc/screen.png", image)
    assert kept["name"] == "screen.png" and kept["kind"] == "image" and kept["mime_type"] == "image/png"
    assert (kept["bytes"], kept["width"], kept["height"]) == (len(image), 30, 20)
    assert kept["sha256"] == hashlib.sha256(image).hexdigest()
    path = world.path(session, f"/attachments/{kept['id']}")
    answer = world.client.request("GET", f"{path}/bytes")
    assert answer.body == image and answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert world.client.request("DELETE", path).status == 204
    for method, rest in (("GET", f"{path}/bytes"), ("DELETE", path)):
        with pytest.raises(ApiError) as gone:
            world.client.request(method, rest)
        assert (gone.value.status, gone.value.code) == (404, "attachment_not_found")


def test_what_cannot_be_kept_is_refused_with_its_reason(world: World) -> None:
    world.agent("viewer")
    session = world.create("viewer")
    for name, data, status, code in (
        ("movie.png", b"GIF89a....", 415, "unsupported_media"),
        ("program.txt", b"\x7fELF\0\0", 415, "unsupported_media"),
        ("latin.txt", b"caf\xe9", 415, "unsupported_media"),
        ("empty.txt", b"", 400, "invalid_request"),
        ("huge.txt", b"x" * (10 * 1024 * 1024 + 1), 413, "attachment_too_large"),
        ("endless.txt", b"x" * (12 * 1024 * 1024), 413, "attachment_too_large"),
    ):
        error = _refused(world, session, name, data)
        assert (error.status, error.code) == (status, code), name
        assert name in str(error) or name == "endless.txt"
    path = world.path(session, "/attachments")
    for headers, body, status in (
        ({"content-type": "application/json"}, b"{}", 415),
        ({"content-type": "multipart/form-data"}, b"--x--", 400),
        ({"content-type": "multipart/form-data; boundary=x"}, b"no part at all", 400),
        ({"content-type": "multipart/form-data; boundary=x"}, b"--x\r\n\r\n--x--\r\n", 400),
    ):
        with pytest.raises(ApiError) as refused:
            world.client.request("POST", path, body=body, headers=headers)
        assert refused.value.status == status
    folder = world.daemon.home.root / "session-attachments" / session["workspace_id"]
    assert not folder.exists() or not any(folder.iterdir())


def test_files_reach_the_agent_in_the_form_it_takes_and_stay_in_events_and_transcript(world: World) -> None:
    record = world.folder / "record"
    world.agent("viewer", {"record": str(record), "prompts": [[{"text": "seen"}]]})
    session = world.create("viewer")
    image = png()
    given = [
        upload(world, session, "screen.png", image),
        upload(world, session, "paper.pdf", PDF),
        upload(world, session, "notes.md", "# Notizen — grün\n".encode()),
    ]
    assert [file["kind"] for file in given] == ["image", "pdf", "text"]
    world.prompt(session, "look", attachments=given)
    text, *blocks = _prompts(record)[0]
    assert text["text"].endswith("User request:\nlook")
    assert blocks[0]["mimeType"] == "image/png" and base64.b64decode(blocks[0]["data"]) == image
    assert base64.b64decode(blocks[1]["resource"]["blob"]) == PDF
    assert blocks[2]["resource"]["text"] == "# Notizen — grün\n"
    assert blocks[2]["resource"]["mimeType"] == "text/markdown"
    stored = world.events(session, type="user_message")[0]["content"]["attachments"]
    assert [file["id"] for file in stored] == [file["id"] for file in given]
    parts = world.get(session, "/transcript")["entries"][0]["message"]["parts"]
    assert [part["type"] for part in parts] == ["text", "file", "file", "file"]
    assert parts[1]["filename"] == "screen.png" and parts[1]["mediaType"] == "image/png"
    assert world.client.request("GET", parts[1]["url"]).body == image


def test_what_the_agent_cannot_take_is_refused_and_text_becomes_plain_text(world: World) -> None:
    record = world.folder / "record"
    bare = {"promptCapabilities": {"image": False, "embeddedContext": False}}
    world.agent("blind", {"record": str(record), "capabilities": bare})
    session = world.create("blind")
    for name, data in (("screen.png", png()), ("paper.pdf", PDF)):
        file = upload(world, session, name, data)
        with pytest.raises(ApiError) as refused:
            world.post(session, "/prompt", world.prompt_body("look", attachments=[file]))
        assert (refused.value.status, refused.value.code) == (422, "attachment_unsupported")
        assert name in str(refused.value)
    assert "user_message" not in world.types(session) and _prompts(record) == []
    notes = upload(world, session, "notes.txt", b"plain words")
    world.prompt(session, "", attachments=[{"id": notes["id"]}])
    assert _prompts(record)[0][1] == {"type": "text", "text": "Attached file notes.txt:\n\nplain words"}
    # Files may speak for themselves: a prompt of files alone has no text part.
    parts = world.get(session, "/transcript")["entries"][0]["message"]["parts"]
    assert [part["type"] for part in parts] == ["file"]


def test_a_new_agent_session_is_told_of_earlier_files_and_given_them_again(world: World) -> None:
    record = world.folder / "record"
    forgetful = {"loadSession": False, "promptCapabilities": {"image": True, "embeddedContext": True}}
    world.agent("forgetful", {"record": str(record), "capabilities": forgetful})
    session = world.create("forgetful")
    image = png()
    world.prompt(session, "look", attachments=[upload(world, session, "screen.png", image)])
    deleted = upload(world, session, "gone.txt", b"was here")
    world.prompt(session, "and this", attachments=[deleted])
    world.client.request("DELETE", world.path(session, f"/attachments/{deleted['id']}"))
    world.post(session, "/stop")
    world.prompt(session, "what was it?")
    text, *blocks = _prompts(record)[-1]
    assert "[attached: screen.png (image/png)]" in text["text"] and "gone.txt" in text["text"]
    assert [block["type"] for block in blocks] == ["image"]
    assert base64.b64decode(blocks[0]["data"]) == image


def test_a_waiting_prompt_keeps_its_files(world: World) -> None:
    gate, record = world.folder / "gate", world.folder / "record"
    world.agent("slow", {"record": str(record), "prompts": [[{"text": "one"}, {"wait_file": str(gate)}], []]})
    session = world.create("slow")
    frames = world.frames(session)
    next(f for f in frames if f is not None and f["type"] == "text-delta")
    file = upload(world, session, "notes.txt", b"later")
    body = world.prompt_body("second", attachments=[file])
    assert world.post(session, "/prompt", body).json()["prompt"]["status"] == "queued"
    waiting = world.get(session, "/prompt/queue")["inputs"][0]
    assert waiting["attachments"][0]["id"] == file["id"]
    # Another set of files is another prompt.
    with pytest.raises(ApiError) as conflict:
        world.post(session, "/prompt", {**body, "attachments": []})
    assert conflict.value.code == "prompt_idempotency_conflict"
    gate.touch()
    wait_until(lambda: world.types(session).count("done") == 2, "the waiting prompt runs")
    assert _prompts(record)[1][1]["resource"]["text"] == "later"


def test_unknown_repeated_and_too_many_files_are_refused(world: World) -> None:
    world.agent("viewer")
    session, other = world.create("viewer"), world.create("viewer")
    mine, foreign = upload(world, session, "a.txt", b"a"), upload(world, other, "b.txt", b"b")
    many = [upload(world, session, f"{n}.txt", b"x") for n in range(11)]
    for files, status, code in (
        ([foreign], 404, "attachment_not_found"),
        ([{"id": "../../../compozy.db"}], 404, "attachment_not_found"),
        ([mine, mine], 400, "invalid_request"),
        (many, 400, "invalid_request"),
    ):
        with pytest.raises(ApiError) as refused:
            world.post(session, "/prompt", world.prompt_body("look", attachments=files))
        assert (refused.value.status, refused.value.code) == (status, code)
    assert world.types(session) == []


def test_files_end_with_their_session_and_damage_is_noticed(world: World) -> None:
    world.agent("viewer")
    session = world.create("viewer")
    file = upload(world, session, "a.txt", b"a")
    folder = world.daemon.home.root / "session-attachments" / session["workspace_id"] / session["id"]
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    (folder / file["id"]).write_bytes(b"other")
    with pytest.raises(ApiError) as damaged:
        world.post(session, "/prompt", world.prompt_body("look", attachments=[file]))
    assert damaged.value.status == 404 and "damaged" in str(damaged.value)
    world.client.request("DELETE", world.path(session))
    assert not folder.exists()
