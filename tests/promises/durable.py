"""What durability, backups, retention, streams and memory promise (issue 6, items 5 and 9)."""

from tests.promises import Promise

_DURABLE = "tests/interaction/sessions/test_durable.py::"
_SPLIT = "tests/unit/config/test_redaction_stream.py::"

PROMISES: tuple[Promise, ...] = (
    Promise(
        "durable.split_secret",
        "contract §5.8, issue 6 durability",
        "A secret that an agent sends in several updates is masked for every reader and on the disk.",
        test=_DURABLE + "test_a_secret_split_over_updates_is_masked_for_every_reader_and_on_the_disk",
    ),
    Promise(
        "durable.split_text",
        "contract §5.8",
        "Text cut anywhere shows no secret and loses nothing else.",
        test=_SPLIT + "test_a_text_cut_anywhere_shows_no_secret_and_loses_nothing_else",
    ),
    Promise(
        "durable.split_bounded",
        "issue 6 memory",
        "A secret without end is masked to its end, and holding text back takes bounded memory.",
        test=_SPLIT + "test_a_secret_without_end_is_masked_to_its_end_in_bounded_memory",
    ),
    Promise(
        "durable.without_provider",
        "issue 6 durability",
        "Transcript and events stay readable with the agent and its provider uninstalled.",
        test=_DURABLE + "test_a_session_is_readable_when_its_agent_and_its_provider_are_gone",
    ),
)
