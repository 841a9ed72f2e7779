"""HEARTBEAT.md: when an agent may wake by itself, never with which rights (formats §14)."""

import re
from collections.abc import Mapping
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from compozy.documents.companion_fields import HEARTBEAT
from compozy.documents.companions import (
    Companion,
    body_lines,
    decode_fields,
    heading_problems,
    size_problems,
    take_apart,
)
from compozy.documents.decoding import dotted, flag_in, rows_in, text_in, texts_in
from compozy.documents.durations import DurationProblem, parse_duration
from compozy.documents.problems import Fix, Path, Problem, has_errors
from compozy.documents.text import shown, trim
from compozy.model.diagnostic import Diagnostic
from compozy.model.record import Record

MAX_HEARTBEAT_BYTES = 32_768
# Waking more often costs money without anybody looking (formats §14).
MIN_INTERVAL_NS = 5 * 60 * 10**9
_CLOCK = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]")
_DIRECTIVE = re.compile(r"^\s*(?:[-*]\s+)?`?([A-Za-z][A-Za-z0-9_ -]{0,40}?)`?\s*(?::(?!//)\s*\S|=\s*\S)")
_NOT_WORD = re.compile(r"[^a-z0-9]+")
_AGENT = "it belongs into AGENT.md"
_SESSION = "sessions and their work are not controlled from a heartbeat"
OWNED_ELSEWHERE = {
    **dict.fromkeys(
        (
            "name", "provider", "command", "model", "reasoning_effort", "permissions", "tools", "toolsets",
            "deny_tools", "skills", "hooks", "mcp_servers", "mcp", "capabilities", "env", "secret_env", "secrets",
        ),
        _AGENT,
    ),
    **dict.fromkeys(
        (
            "schedule", "cron", "interval", "task", "tasks", "lease", "claim", "network", "channel", "session",
            "sessions", "session_id", "spawn", "parent_session",
        ),
        _SESSION,
    ),
    **dict.fromkeys(("role", "tone", "principles", "persona"), "it belongs into SOUL.md"),
}  # fmt: skip


class Window(Record, frozen=True, kw_only=True):
    """A daily span of time in one zone, as written."""

    timezone: str
    start: str
    end: str


class Heartbeat(Record, frozen=True, kw_only=True):
    """A wake policy. `min_interval_ns` is at least five minutes, None when the home's default counts."""

    body: str
    version: int = 1
    enabled: bool = True
    summary: str = ""
    min_interval_ns: int | None = None
    active_hours: tuple[Window, ...] = ()
    quiet_windows: tuple[Window, ...] = ()
    include: tuple[str, ...] = ()


def read_heartbeat(data: bytes, path: str = "HEARTBEAT.md") -> tuple[Heartbeat | None, tuple[Diagnostic, ...]]:
    """Read a HEARTBEAT.md; the policy is None when a diagnostic is an error."""
    found = take_apart(
        data, path, malformed="heartbeat_malformed_frontmatter", header_required=False, known=HEARTBEAT.fields
    )
    fields = decode_fields(
        found,
        HEARTBEAT,
        unknown="heartbeat_unsupported_field",
        mismatch="heartbeat_invalid_field_type",
        forbidden=OWNED_ELSEWHERE,
        forbidden_code="heartbeat_forbidden_field",
    )
    if "version" in fields and fields["version"] != 1:
        message = f"version must be 1, found {fields['version']!r}; this program reads version 1 only"
        found.problems.append(Problem(code="heartbeat_unsupported_version", message=message, path=("version",)))
    preferences = fields.get("preferences")
    preferences = preferences if isinstance(preferences, dict) else {}
    interval = _interval(found, preferences)
    active_hours = _windows(found, preferences, "active_hours")
    quiet_windows = _windows(found, preferences, "quiet_windows")
    found.problems += size_problems(
        found, MAX_HEARTBEAT_BYTES, header="heartbeat_oversized_frontmatter", body="heartbeat_oversized_body"
    )
    found.problems += heading_problems(found, OWNED_ELSEWHERE, "heartbeat_reserved_section")
    found.problems += _directive_problems(found)
    diagnostics = found.diagnostics()
    if has_errors(diagnostics):
        return None, diagnostics
    context = fields.get("context")
    enabled = flag_in(fields, "enabled")
    policy = Heartbeat(
        body=found.body,
        enabled=enabled is not False,
        summary=trim(text_in(fields, "summary")),
        min_interval_ns=interval,
        include=tuple(t for t in map(trim, texts_in(context if isinstance(context, dict) else {}, "include")) if t),
        active_hours=active_hours,
        quiet_windows=quiet_windows,
    )
    return policy, diagnostics


def _interval(found: Companion, preferences: Mapping[str, object]) -> int | None:
    text = trim(text_in(preferences, "min_interval"))
    path: Path = ("preferences", "min_interval")
    if not text:
        return None
    try:
        value = parse_duration(text)
    except DurationProblem as error:
        message = f"preferences.min_interval: {error}: {shown(text)}; write a duration such as 30m"
        found.problems.append(Problem(code="heartbeat_invalid_duration", message=message, path=path))
        return None
    if value < MIN_INTERVAL_NS:
        message = f"preferences.min_interval {shown(text)} is below 5m and counts as 5m"
        fix = Fix(title="write 5m", kind="set_value", text="5m")
        found.problems.append(Problem(code="heartbeat_min_interval_clamped", message=message, path=path, fix=fix))
    return max(value, MIN_INTERVAL_NS)


def _windows(found: Companion, preferences: Mapping[str, object], name: str) -> tuple[Window, ...]:
    windows = []
    for index, row in enumerate(rows_in(preferences, name)):
        path: Path = ("preferences", name, index)
        window = Window(
            timezone=trim(text_in(row, "timezone")), start=trim(text_in(row, "start")), end=trim(text_in(row, "end"))
        )
        windows.append(window)
        if not _is_zone(window.timezone):
            message = f"{dotted(path)}.timezone must be an IANA time zone such as Europe/Berlin, found "
            message += shown(window.timezone)
            found.problems.append(Problem(code="heartbeat_invalid_window", message=message, path=(*path, "timezone")))
        for part, text in (("start", window.start), ("end", window.end)):
            if not _CLOCK.fullmatch(text):
                message = f"{dotted(path)}.{part} must be a time as HH:MM, found {shown(text)}"
                found.problems.append(Problem(code="heartbeat_invalid_window", message=message, path=(*path, part)))
    return tuple(windows)


def _is_zone(name: str) -> bool:
    if not name or name.startswith(("/", ".")) or "\0" in name:
        return False
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _directive_problems(found: Companion) -> list[Problem]:
    """Body lines that look like settings another file owns."""
    problems = []
    for line, offset in body_lines(found):
        match = _DIRECTIVE.match(line)
        if match is None:
            continue
        key = _NOT_WORD.sub("_", match.group(1).lower()).strip("_")
        if key in OWNED_ELSEWHERE:
            message = f"a line that sets {match.group(1)!r} does not belong here: {OWNED_ELSEWHERE[key]}"
            span = (offset + match.start(1), offset + match.end(1))
            problems.append(Problem(code="heartbeat_reserved_directive", message=message, span=span))
    return problems
