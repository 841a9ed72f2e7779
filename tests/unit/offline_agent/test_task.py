"""What a task is taken to ask for."""

import pytest

from compozy_offline_agent.task import DEFAULT_FINDINGS, read_task, understand, user_text


def own_words(text: str) -> list[str]:
    return [word.shown for word in understand(text).words if not word.of]


def test_only_what_follows_the_last_user_request_line_is_the_task() -> None:
    prompt = "System guidance\nYou say User request: inside a line\nUser request:\nold\nUser request: find the cursor"
    assert user_text(prompt) == "find the cursor"
    assert user_text("find the cursor") == "find the cursor"
    assert user_text("guidance\n\nUser request:\nfirst line\nsecond line\n") == "first line\nsecond line"


def test_what_the_client_tells_about_the_session_is_not_the_task() -> None:
    later_turn = '<compozy-situation-context>\n{"peers": []}\n</compozy-situation-context>\n\nfind the cursor'
    assert user_text(later_turn) == "find the cursor"


def test_what_says_how_to_answer_is_not_looked_for() -> None:
    assert own_words("Please find all the places where failed payments are retried") == [
        "failed",
        "payments",
        "retried",
    ]


def test_a_task_of_common_words_only_still_looks_for_something() -> None:
    assert own_words("find the report") == ["find", "report"]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("find the retry code and write the findings to notes/retry.md", "notes/retry.md"),
        ("find the retry code. Save your findings in `out.md`.", "out.md"),
        ("find the retry code, then write a report to REPORT.md", "REPORT.md"),
        ("find the retry code and write them to a file called retry.md", "retry.md"),
        ("Write the findings to ../outside.md about retry", "../outside.md"),
        ("find the retry code and write a report", DEFAULT_FINDINGS),
        ("write a short summary of the retry code", DEFAULT_FINDINGS),
        ("where does the code write the report to disk?", ""),
        ("find the functions that save results", ""),
        ("explain the retry code in src/app.py", ""),
    ],
)
def test_a_findings_file_is_written_only_when_the_task_asks_for_one(text: str, target: str) -> None:
    task = understand(text)
    assert task.write_to == target
    if target:
        assert "findings" not in {word.shown for word in task.words}


def test_a_wish_for_a_change_is_recognised_by_its_first_word() -> None:
    assert understand("fix the retry loop").wants_change
    assert understand("Please add a timeout to the client").wants_change
    assert not understand("where do we fix up the urls?").wants_change


def test_quoted_phrases_and_named_paths_are_kept_whole() -> None:
    task = understand('where is "card declined" raised in billing/card.py')
    assert task.phrases == ("card declined",)
    assert task.paths == ("billing/card.py",)


def test_text_that_was_attached_can_be_searched_and_odd_blocks_are_passed_over() -> None:
    blocks = [
        {"type": "text", "text": "find the cursor"},
        {"type": "resource", "resource": {"uri": "file:///x/log.txt", "text": "the cursor jumped"}},
        {"type": "image", "data": "…"},
        "junk",
        None,
    ]
    task = read_task(blocks)
    assert task.text == "find the cursor"
    assert [(one.name, one.text) for one in task.attachments] == [("file:///x/log.txt", "the cursor jumped")]


@pytest.mark.parametrize(
    "piece",
    ["write findings ", "and then please ", '"', "a/", "a.", "<compozy-x>", "User request:", "write it ", "a"],
)
def test_a_long_pasted_text_is_taken_apart_in_linear_time(piece: str) -> None:
    # The suite would not end within its bound if a pattern tried every split of these.
    task = understand(user_text(piece * 50_000 + " find the cursor"))
    assert task.text.endswith("find the cursor")
