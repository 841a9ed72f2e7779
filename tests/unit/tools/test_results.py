"""Results within bounds, and the artifacts that hold the rest."""

import base64
import os
import time
from pathlib import Path

import pytest

from compozy.model.tool import ToolContent
from compozy.tools.artifacts import MOST_FILES, MOST_SECONDS, PAGE_BYTES, ArtifactProblem, ArtifactStore
from compozy.tools.results import Bounds, bound_result
from compozy.tools.source import ToolOutput


def _text(text: str) -> ToolOutput:
    return ToolOutput(content=(ToolContent(type="text", text=text),))


def test_a_small_result_passes_unchanged(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path / "artifacts")
    result = bound_result(
        _text("hello"), Bounds(max_bytes=100), lambda *a: store.keep("ws", *a), tool_id="a__b", duration_ms=3
    )
    assert not result.truncated and result.content[0].text == "hello" and result.artifacts == ()
    assert not (tmp_path / "artifacts").exists()


def test_a_result_over_the_bound_is_kept_whole_and_read_in_pages(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    text = "".join(f"line {number}\n" for number in range(20_000))
    result = bound_result(
        _text(text), Bounds(max_bytes=1000), lambda *a: store.keep("ws_1", *a), tool_id="a__b", duration_ms=3
    )
    assert result.truncated and result.bytes > len(text)
    assert text.startswith(result.preview) and result.artifacts[0].uri in result.content[0].text
    read, offset = b"", 0
    while True:
        page = store.read("ws_1", result.artifacts[0].uri, offset=offset)
        assert page.bytes <= PAGE_BYTES and page.total_bytes == len(text)
        read += base64.b64decode(page.data_base64)
        offset = page.next_offset
        if page.eof:
            break
    assert read.decode() == text
    assert (page.artifact.mime_type, page.artifact.sha256) == ("text/plain", result.artifacts[0].sha256)


def test_a_structured_result_is_kept_as_json(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    output = ToolOutput(structured={"rows": list(range(1000))}, is_error=True)
    result = bound_result(output, Bounds(max_bytes=0), lambda *a: store.keep("", *a), tool_id="a__b", duration_ms=0)
    assert result.artifacts[0].mime_type == "application/json" and result.metadata == {"is_error": True}
    assert (tmp_path / "_unbound").is_dir()


def test_an_artifact_of_another_workspace_or_a_crafted_id_is_not_found(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    kept = store.keep("ws_1", b"secret", "text/plain", "x")
    (tmp_path / "outside.txt").write_text("no")
    for workspace, wanted in (("ws_2", kept.uri), ("ws_1", "art_" + "0" * 64), ("ws_1", "../outside")):
        with pytest.raises(ArtifactProblem) as caught:
            store.read(workspace, wanted)
        assert caught.value.reason == "tool_artifact_not_found"


def test_a_changed_artifact_is_recognised(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    kept = store.keep("ws_1", b"first", "text/plain", "x")
    next((tmp_path / "ws_1").iterdir()).write_bytes(b"other")
    with pytest.raises(ArtifactProblem) as caught:
        store.read("ws_1", kept.uri)
    assert caught.value.reason == "tool_artifact_corrupt"


def test_a_folder_that_cannot_be_written_is_a_stated_failure(tmp_path: Path) -> None:
    (tmp_path / "ws_1").write_text("a file in the way")
    with pytest.raises(ArtifactProblem, match="make room") as caught:
        ArtifactStore(tmp_path).keep("ws_1", b"x", "text/plain", "x")
    assert caught.value.reason == "result_persistence_failed"


def test_the_oldest_artifacts_make_room(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    aged = store.keep("ws_1", b"aged", "text/plain", "x")
    long_ago = time.time() - MOST_SECONDS - 60
    os.utime(next((tmp_path / "ws_1").iterdir()), (long_ago, long_ago))
    first = store.keep("ws_1", b"first", "text/plain", "x")
    with pytest.raises(ArtifactProblem):
        store.read("ws_1", aged.uri)
    hour_ago = time.time() - 3600
    os.utime(next((tmp_path / "ws_1").iterdir()), (hour_ago, hour_ago))
    for number in range(MOST_FILES):
        store.keep("ws_1", f"later {number}".encode(), "text/plain", "x")
    assert len(list((tmp_path / "ws_1").iterdir())) == MOST_FILES
    with pytest.raises(ArtifactProblem):
        store.read("ws_1", first.uri)
