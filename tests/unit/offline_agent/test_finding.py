"""What the agent finds: planted needles, and how the answer follows the tree."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compozy_offline_agent.ranking import Document, rank
from compozy_offline_agent.task import understand
from compozy_offline_agent.words import parts, stem
from tests.kit import fuzzing
from tests.kit.sdk_client import SdkClient, connect
from tests.unit.offline_agent.trees import made_up_word, plant

pytestmark = pytest.mark.anyio


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(fuzzing.times(6)))
async def test_a_planted_needle_is_the_first_finding_with_its_line(
    tmp_path: Path, agent_argv: list[str], seed: int
) -> None:
    needle = plant(tmp_path, fuzzing.seed(seed))
    client = SdkClient(tmp_path)
    async with connect(agent_argv, client) as session:
        outcome = await session.prompt(f"Where is the {needle.words} handled?")
    assert outcome.stop_reason == "end_turn"
    assert f"**1. {needle.path}:{needle.line}**" in client.text
    assert f"> {needle.line} | " in client.text.replace(">  ", "> "), "the excerpt marks the line"


async def test_the_answer_changes_with_the_tree(tmp_path: Path, agent_argv: list[str]) -> None:
    needle = plant(tmp_path, 77)
    client = SdkClient(tmp_path)
    async with connect(agent_argv, client) as session:
        await session.prompt(f"find {needle.words}")
        before, client.updates = client.text, []
        holder = tmp_path / needle.path
        line = holder.read_text().splitlines()[needle.line - 1]
        holder.write_text("nothing = 0\n")
        (tmp_path / "moved.py").write_text(f"first = 1\n{line}\n")
        await session.prompt(f"find {needle.words}")
    assert f"**1. {needle.path}:{needle.line}**" in before
    assert "**1. moved.py:2**" in client.text
    assert f"{needle.path}:{needle.line}" not in client.text


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), noise=st.lists(st.text(max_size=60), max_size=12))
def test_ranking_puts_the_only_line_with_both_words_first_whatever_surrounds_it(seed: int, noise: list[str]) -> None:
    random_ = random.Random(seed)
    first, second = made_up_word(random_), made_up_word(random_)
    kept = [one.replace("\n", " ") for one in noise]
    documents = [Document(f"n{index}.txt", text) for index, text in enumerate(kept)]
    documents += [Document("one.py", f"{first} = 1\n" * 3), Document("other.py", f"{second}()\n")]
    at = random_.randrange(len(kept) + 1)
    lines = [*kept[:at], f"x = {first}_{second}", *kept[at:]]
    documents.append(Document("needle.py", "\n".join(lines)))
    random_.shuffle(documents)
    findings = rank(understand(f"where is {first} {second}"), documents)
    assert findings[0].path == "needle.py"
    assert findings[0].excerpts[0].line == at + 1


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=300), files=st.lists(st.tuples(st.text(max_size=20), st.text(max_size=200)), max_size=4))
def test_no_task_and_no_file_makes_the_ranking_fail(text: str, files: list[tuple[str, str]]) -> None:
    findings = rank(understand(text), [Document(path, body) for path, body in files])
    assert all(finding.score >= 0 for finding in findings)
    for finding in findings:
        for excerpt in finding.excerpts:
            assert any(1 <= excerpt.line <= len(body.split("\n")) for path, body in files if path == finding.path)


def test_a_quoted_phrase_outweighs_its_words_apart() -> None:
    documents = [
        Document("apart.py", "payment\nwas\ndeclined\npayment declined_by bank payment\n"),
        Document("exact.py", "raise Error('payment was declined')\n"),
    ]
    assert rank(understand('where does "payment was declined" come from'), documents)[0].path == "exact.py"


def test_a_path_that_the_task_names_comes_first() -> None:
    documents = [Document("src/app.py", "token = 1\n"), Document("src/other.py", "token token\ndef token(): pass\n")]
    assert rank(understand("explain the token in src/app.py"), documents)[0].path == "src/app.py"


def test_words_are_found_in_every_usual_spelling_of_an_identifier() -> None:
    for spelling in ("max_retry_count", "maxRetryCount", "MAX_RETRY_COUNT", "MaxRetries", "retrying", "HTTPRetry"):
        assert rank(understand("where do we retry"), [Document("a.py", f"x\n{spelling}\n")]), spelling
    assert rank(understand("the timeout"), [Document("a.py", "time_out = 3\n")])
    assert rank(understand("the time_out"), [Document("a.py", "timeout = 3\n")])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("retries", "retry"),
        ("retrying", "retry"),
        ("cached", "cache"),
        ("caching", "cache"),
        ("stopped", "stop"),
        ("keys", "key"),
    ],
)
def test_forms_of_one_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_an_identifier_is_its_parts_and_its_whole() -> None:
    assert set(parts("parseHTTPHeader2")) >= {stem("parse"), "http", stem("header"), "2", "parsehttpheader2"}


def test_words_without_spaces_between_them_are_found_as_they_stand() -> None:
    found = rank(
        understand("支払い"), [Document("a.md", "x\nここで支払いを再試行する\n"), Document("b.md", "無関係\n")]
    )
    assert [(one.path, one.excerpts[0].line) for one in found] == [("a.md", 2)]


def test_two_words_that_follow_each_other_in_the_task_count_more_where_they_do_so_in_a_file() -> None:
    documents = [
        Document("a.py", "timeout = 4  # seconds, for a payment\n"),
        Document("b.log", "WARN payment timeout order=1\n"),
    ]
    assert rank(understand("which lines show a payment timeout"), documents)[0].path == "b.log"


def test_ranking_stops_where_it_is_told_to() -> None:
    seen = []

    def check() -> None:
        seen.append(1)
        if len(seen) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        rank(understand("find x1"), [Document(f"{number}.py", "x1") for number in range(9)], check)
    assert len(seen) == 3
