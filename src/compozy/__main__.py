"""Entry point of the `compozy` command; answers `--version` before anything else is imported."""

import gc
import os
import sys

_WINDOWS = """compozy: Windows is not supported: agents are supervised with POSIX process groups and Unix sockets.
Install the Windows Subsystem for Linux (in PowerShell: wsl --install) and run compozy inside it.
"""


def main() -> int:
    """Run the command line and return its exit code."""
    _open_closed_streams()
    if sys.argv[1:] == ["--version"]:
        from compozy import __version__  # noqa: PLC0415 - start-up cost

        sys.stdout.write(f"compozy {__version__}\n")
        return 0
    if sys.platform == "win32":
        sys.stderr.write(_WINDOWS)
        return 1
    # Imports leave no cycles worth looking for, and the search costs a twentieth of the start. Every command switches
    # the collector on again before it works (`cli.groups.Command.invoke`).
    gc.disable()
    try:
        from compozy.cli.app import main as run  # noqa: PLC0415 - start-up cost

        return run()
    except KeyboardInterrupt:
        return 130


def _open_closed_streams() -> None:
    """Give a standard stream that the caller closed (`<&-`, `>&-`) the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - lives as long as the process


if __name__ == "__main__":
    sys.exit(main())
