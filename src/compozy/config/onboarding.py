"""Whether the first steps in the web page were finished: one small file in the home (shapes: onboarding).

An absent or damaged file means that they were not: the page then shows them once more, which harms nobody.
"""

import json
from pathlib import Path

from compozy.config.errors import HomeError
from compozy.config.home import Home
from compozy.documents.atomic import write_atomically
from compozy.model.record import Record
from compozy.model.times import now

_MAX_BYTES = 4096


class Onboarding(Record, frozen=True, kw_only=True):
    """Finished or not, and when."""

    completed: bool
    completed_at: str = ""


def onboarding(home: Home) -> Onboarding:
    """Return the state."""
    try:
        with _file(home).open("rb") as file:
            stored = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError):
        return Onboarding(completed=False)
    at = stored.get("completed_at") if isinstance(stored, dict) else None
    return Onboarding(completed=True, completed_at=at) if isinstance(at, str) else Onboarding(completed=False)


def complete_onboarding(home: Home) -> Onboarding:
    """Remember that they were finished; the first time counts.

    Raises:
        HomeError: the home cannot be written.
    """
    known = onboarding(home)
    if known.completed:
        return known
    done = Onboarding(completed=True, completed_at=now())
    try:
        write_atomically(_file(home), json.dumps({"completed_at": done.completed_at}).encode())
    except OSError as error:
        raise _unwritable(home, error) from error
    return done


def reset_onboarding(home: Home) -> Onboarding:
    """Forget it.

    Raises:
        HomeError: the home cannot be written.
    """
    try:
        _file(home).unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(home, error) from error
    return Onboarding(completed=False)


def _file(home: Home) -> Path:
    return home.root / "onboarding.json"


def _unwritable(home: Home, error: OSError) -> HomeError:
    path = str(_file(home))
    return HomeError(f"cannot write {path!r}: {error.strerror}; check the folder's owner and mode")
