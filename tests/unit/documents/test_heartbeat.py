"""HEARTBEAT.md (formats §14)."""

import pytest

from compozy.documents.heartbeat import MIN_INTERVAL_NS, Window, read_heartbeat
from compozy.model.diagnostic import Severity

GOOD = b"""---
version: 1
enabled: false
summary: " Look around "
preferences:
  min_interval: 30m
  active_hours:
    - {timezone: Europe/Berlin, start: "08:00", end: "18:00"}
  quiet_windows: []
context:
  include: inbox
---

Look at the ledger: report what does not balance.
"""


def test_every_field_is_read() -> None:
    policy, diagnostics = read_heartbeat(GOOD)
    assert diagnostics == () and policy is not None
    assert (policy.version, policy.enabled, policy.summary) == (1, False, "Look around")
    assert policy.min_interval_ns == 30 * 60 * 10**9
    assert policy.active_hours == (Window(timezone="Europe/Berlin", start="08:00", end="18:00"),)
    assert policy.include == ("inbox",)


def test_without_a_header_the_defaults_count() -> None:
    policy, _ = read_heartbeat(b"Look around.\n")
    assert policy is not None
    assert (policy.version, policy.enabled, policy.min_interval_ns) == (1, True, None)


def test_an_interval_below_five_minutes_is_clamped_with_a_warning_and_a_repair() -> None:
    policy, diagnostics = read_heartbeat(b"---\npreferences: {min_interval: 10s}\n---\n")
    assert policy is not None and policy.min_interval_ns == MIN_INTERVAL_NS
    (warning,) = diagnostics
    assert (warning.code, warning.severity) == ("heartbeat_min_interval_clamped", Severity.WARNING)
    assert warning.repair is not None and [edit.replacement for edit in warning.repair.edits] == ["5m"]


@pytest.mark.parametrize(
    ("data", "code", "line", "column"),
    [
        (b"---\nversion: 2\n---\n", "heartbeat_unsupported_version", 2, 10),
        (b"---\nversion: one\n---\n", "heartbeat_invalid_field_type", 2, 10),
        (b"---\nenabled: 'true'\n---\n", "heartbeat_invalid_field_type", 2, 10),
        (b"---\nsumary: x\n---\n", "heartbeat_unsupported_field", 2, 1),
        (b"---\nmodel: x\n---\n", "heartbeat_forbidden_field", 2, 1),
        (b"---\npreferences:\n  min_interval: soon\n---\n", "heartbeat_invalid_duration", 3, 17),
        (
            b"---\npreferences:\n  active_hours:\n  - {timezone: Mars/Base, start: '08:00', end: '09:00'}\n---\n",
            "heartbeat_invalid_window",
            4,
            16,
        ),
        (
            b"---\npreferences:\n  quiet_windows:\n  - {timezone: UTC, start: '24:00', end: '09:00'}\n---\n",
            "heartbeat_invalid_window",
            4,
            28,
        ),
        (b"---\nversion: 1\n---\n# Schedule\n", "heartbeat_reserved_section", 4, 1),
        (b"Wake up.\n\n- Model: big-one\n", "heartbeat_reserved_directive", 3, 3),
        (b"lease = 5m\n", "heartbeat_reserved_directive", 1, 1),
        (b"---\nversion: 1\n", "heartbeat_malformed_frontmatter", 1, 1),
        (b"x" * 32_769, "heartbeat_oversized_body", 1, 1),
    ],
)
def test_each_kind_of_mistake_has_its_code_and_place(data: bytes, code: str, line: int, column: int) -> None:
    policy, diagnostics = read_heartbeat(data)
    assert policy is None
    places = [(one.position.line, one.position.column) for one in diagnostics if one.code == code and one.position]
    assert places == [(line, column)]


def test_prose_with_colons_and_links_is_no_directive() -> None:
    policy, diagnostics = read_heartbeat(b"Remember: be brief.\nSee http://h.example and session: notes below\n")
    assert policy is not None and diagnostics == ()


def test_a_time_zone_cannot_name_a_file() -> None:
    for zone in ("../../etc/passwd", "/etc/localtime", ""):
        data = f"---\npreferences:\n  active_hours:\n  - {{timezone: '{zone}', start: '08:00', end: '09:00'}}\n---\n"
        assert read_heartbeat(data.encode())[0] is None
