"""Bytes to messages: what real agents print on stdout, and what must never be lost silently."""

import itertools
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compozy.acp.contract import AgentProtocolError
from compozy.acp.wire import (
    LineSplitter,
    Noise,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    own_request_id,
    read_line,
)


def test_a_line_may_come_in_any_pieces_also_cut_inside_a_character() -> None:
    text = '{"a":"grüße 🎈"}\n{"b":2}\n'.encode()
    for cut in range(len(text)):
        splitter = LineSplitter(1000)
        assert splitter.feed(text[:cut]) + splitter.feed(text[cut:]) == text.split(b"\n")[:2]


@given(
    lines=st.lists(st.binary(max_size=40).filter(lambda b: b"\n" not in b), max_size=6),
    last=st.binary(max_size=40).filter(lambda b: b"\n" not in b),
    cuts=st.lists(st.integers(0, 300), max_size=8),
)
def test_splitting_gives_the_same_lines_wherever_the_stream_is_cut(
    lines: list[bytes], last: bytes, cuts: list[int]
) -> None:
    stream = b"".join(line + b"\n" for line in lines) + last
    splitter = LineSplitter(10_000)
    places = [0, *sorted(cut for cut in cuts if cut <= len(stream)), len(stream)]
    got = [line for a, b in itertools.pairwise(places) for line in splitter.feed(stream[a:b])]
    assert got + splitter.finish() == lines + ([last] if last else [])


@pytest.mark.parametrize("size", [65535, 65536, 65537, 3_000_000])
def test_a_long_line_arrives_whole(size: int) -> None:
    splitter = LineSplitter(64 * 1024 * 1024)
    line = b"x" * size
    chunks = [line[i : i + 65536] for i in range(0, size, 65536)]
    assert [got for chunk in [*chunks, b"\n"] for got in splitter.feed(chunk)] == [line]


def test_above_the_bound_nothing_is_held_any_more() -> None:
    splitter = LineSplitter(100)
    assert splitter.feed(b"before\n" + b"x" * 90) == [b"before"]
    assert not splitter.is_exceeded
    assert splitter.feed(b"x" * 20) == []
    assert splitter.is_exceeded
    assert splitter.feed(b"y\n" * 10) == []
    assert splitter.finish() == []


def test_a_line_above_the_bound_in_one_chunk_is_left_out_and_reported() -> None:
    splitter = LineSplitter(10)
    assert splitter.feed(b"a\n" + b"x" * 11 + b"\nb\n") == [b"a", b"b"]
    assert splitter.is_exceeded


@pytest.mark.parametrize(
    "line",
    [
        b"null",
        b"42",
        b"[]",
        b'"x"',
        b"true",
        b"npm warn deprecated glob@7",
        b"\x1b[2K\x1b[1G\x1b[32mready\x1b[0m",
        b'{"level":"info","msg":"started"}',
        b'{"level":"info","id":3}',
        b"{ name: 'not json' }",
        b"{",
        b"\xff\xfe\x00",
        b"[[[[[[",
    ],
)
def test_what_is_no_message_is_noise(line: bytes) -> None:
    with pytest.raises(Noise):
        read_line(line)


@pytest.mark.parametrize("line", [b"", b"  ", b"\r", b"\t \r"])
def test_a_blank_line_is_nothing(line: bytes) -> None:
    assert read_line(line) == (None, "")


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessi',
        b'{"jsonrpc":"2.0","id":1,"result":{"a":}}',
        b'{"jsonrpc":"2.0"}{"jsonrpc":"2.0","id":1,"result":{}}',
    ],
)
def test_a_broken_message_is_a_protocol_error_because_somebody_waits_for_it(line: bytes) -> None:
    with pytest.raises(AgentProtocolError, match="broken JSON-RPC message"):
        read_line(line)


def test_a_message_behind_a_progress_bar_is_found_and_the_bar_is_noise() -> None:
    message, noise = read_line(b'\r[###  ] 40%\r{"jsonrpc":"2.0","id":1,"result":null}\r')
    assert message is not None and message.result == msgspec.Raw(b"null")
    assert noise == "[###  ] 40%"


def test_noise_with_braces_before_a_message_does_not_hide_it() -> None:
    message, noise = read_line(b'{warn} {"jsonrpc":"2.0","method":"x"}')
    assert message is not None and message.method == "x"
    assert noise.startswith("{warn}")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b'"a\xffb"', "a\ufffdb"),
        (b"NaN", None),
        (b"[Infinity,-Infinity,1]", [None, None, 1]),
        (b'"\\ud83c"', "?"),
        (b'"\\ud83c\\udf88"', "🎈"),
    ],
)
def test_json_that_is_not_strict_is_read_as_far_as_it_can_be(written: bytes, read: object) -> None:
    message, _ = read_line(b'{"jsonrpc":"2.0","method":"session/update","params":{"v":' + written + b"}}")
    assert message is not None
    assert msgspec.json.decode(message.params) == {"v": read}


def test_a_missing_result_is_a_null_answer_only_when_it_is_json_rpc() -> None:
    message, _ = read_line(b'{"jsonrpc":"2.0","id":7}')
    assert message is not None and own_request_id(message.id) == 7


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        (b"7", 7),
        (b'"7"', 7),
        (b"7.0", 7),
        (b"null", None),
        (b'"abc"', None),
        (b"-1", None),
        (b"{}", None),
        (b"9" * 40, None),
    ],
)
def test_an_id_of_ours_is_known_also_as_a_string(raw: bytes, number: int | None) -> None:
    assert own_request_id(msgspec.Raw(raw)) == number


def test_what_we_write_is_one_line_of_json_rpc_with_the_ids_of_the_agent_untouched() -> None:
    assert json.loads(encode_request(1, "m", {"t": "a\nb"})) == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "m",
        "params": {"t": "a\nb"},
    }
    lines = [
        encode_notification("m", {}),
        encode_result(msgspec.Raw(b'"x-1"'), None),
        encode_error(msgspec.Raw(b"1e2"), -32601, "no", {"error": "x"}),
    ]
    assert all(line.count(b"\n") == 1 and line.endswith(b"\n") for line in lines)
    assert b'"id":"x-1"' in lines[1] and b'"result":null' in lines[1]
    assert b'"id":1e2' in lines[2]
