"""Identifiers as the contract spells them (contract §1.1, §5.1).

Ids are random, never derived from content. `sess-`, `turn-` and `env-` carry 16 lower-case hex digits,
registry workspace ids `ws_` plus 16; events, interactions, queue entries and leases use the same length.
"""

import secrets
import time


def _new(prefix: str) -> str:
    return prefix + secrets.token_hex(8)


def new_session_id() -> str:
    """Return a session id such as ``sess-0123456789abcdef``."""
    return _new("sess-")


def new_turn_id() -> str:
    """Return a turn id such as ``turn-0123456789abcdef``."""
    return _new("turn-")


def new_event_id() -> str:
    """Return an event id such as ``evt-0123456789abcdef``."""
    return _new("evt-")


def new_interaction_id() -> str:
    """Return an id for one question to a person, such as ``int-0123456789abcdef``."""
    return _new("int-")


def new_queue_entry_id() -> str:
    """Return an id for one queued input, such as ``inp-0123456789abcdef``."""
    return _new("inp-")


def new_workspace_id() -> str:
    """Return a registry workspace id such as ``ws_0123456789abcdef``."""
    return _new("ws_")


def new_request_id() -> str:
    """Return an id that ties a masked answer to its log line."""
    return _new("req-")


def new_lease_id() -> str:
    """Return an id for one client's presence, such as ``lease-0123456789abcdef``."""
    return _new("lease-")


_ULID = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def new_message_id() -> str:
    """Return an id for one message between sessions, such as ``nmsg-0123456789abcdef``."""
    return _new("nmsg-")


def new_wait_id() -> str:
    """Return a ULID that names one wait, such as ``wait01JG…``: its text order is its order in time."""
    number = (time.time_ns() // 1_000_000 << 80) | secrets.randbits(80)
    return "wait" + "".join(_ULID[number >> shift & 31] for shift in range(125, -5, -5))
