"""What `session events` says of one event, in one line."""

from compozy.cli.commands.session_read import EVENT_COLUMNS, event_text


def test_a_plan_says_how_far_it_is_and_what_is_done_now() -> None:
    entries = [
        {"content": "look", "status": "completed"},
        {"content": "answer", "status": "in_progress"},
        {"content": "rest", "status": "pending"},
    ]
    assert event_text({"type": "plan", "content": {"raw": {"entries": entries}}}) == "1 of 3 done; now: answer"
    assert event_text({"type": "plan", "content": {}}) == ""


def test_a_long_text_is_cut_where_it_can_be_seen() -> None:
    shown = EVENT_COLUMNS[-1].render({"content": {"text": "word " * 100}})
    assert len(shown) == 160 and shown.endswith("…")
