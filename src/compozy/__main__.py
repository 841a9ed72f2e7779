"""Entry point of the `compozy` command; answers `--version` before anything else is imported."""

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    if sys.argv[1:] == ["--version"]:
        from compozy import __version__  # noqa: PLC0415 - start-up cost

        sys.stdout.write(f"compozy {__version__}\n")
        return 0
    raise SystemExit("compozy: the command line is not built yet")


if __name__ == "__main__":
    sys.exit(main())
