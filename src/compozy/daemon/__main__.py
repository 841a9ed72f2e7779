"""The daemon's own process, started by `control.start_detached`: ``python -m compozy.daemon [log level]``.

Failures before it is ready go to standard error, which the starter reads: one JSON line for a deliberate error, a
traceback for a fault. Once ready, standard error is a file in the home, for what only the interpreter can say.
"""

import faulthandler
import json
import os
import sys

from compozy.config.environment import OWN_VARIABLES
from compozy.config.home import Home
from compozy.daemon.lifecycle import Ready, run_daemon
from compozy.model.errors import CompozyError, LocalError


def main() -> int:
    """Run until told to stop; return the exit code."""
    home = Home.from_environment()
    # Who started the daemon is no business of the agents it will start.
    for name in OWN_VARIABLES:
        os.environ.pop(name, None)
    os.chdir("/")

    def ready(_: Ready) -> None:
        _move_standard_error(home)

    try:
        run_daemon(home, log_level=sys.argv[1] if len(sys.argv) > 1 else "", on_ready=ready)
    except CompozyError as error:
        code = error.exit_code if isinstance(error, LocalError) else 1
        sys.stderr.write(json.dumps({"error": error.message, "code": error.code, "exit_code": code}) + "\n")
        return code
    return 0


def _move_standard_error(home: Home) -> None:
    path = home.root / "logs" / "daemon-crash.log"
    if path.exists() and path.stat().st_size:
        # What the last daemon's end had to say is kept for one more life.
        path.replace(path.with_name(f"{path.name}.1"))
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    os.dup2(handle, 2)
    os.close(handle)
    faulthandler.enable()


if __name__ == "__main__":
    sys.exit(main())
