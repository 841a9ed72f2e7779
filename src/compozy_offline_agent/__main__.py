"""Start the offline agent on standard input and output. Knows only the two flags and the stream set-up."""

import sys

from compozy_offline_agent import __version__
from compozy_offline_agent.agent import OfflineAgent
from compozy_offline_agent.rpc import Peer

USAGE = """\
usage: python -m compozy_offline_agent [--version | --help]

An agent that uses no language model. It speaks the Agent Client Protocol (version 1) on standard input and output,
so it is started by a client, for example: compozy run --provider offline "where are payments retried?"
"""


def main(argv: list[str]) -> int:
    """Serve one client until its end of the pipe closes; return the exit code."""
    if argv == ["--version"]:
        sys.stdout.write(f"compozy-offline-agent {__version__}\n")
        return 0
    if argv in (["--help"], ["-h"]):
        sys.stdout.write(USAGE)
        return 0
    if argv:
        sys.stderr.write(f"unknown argument {argv[0]!r}\n{USAGE}")
        return 2
    peer = Peer(sys.stdin.buffer, sys.stdout.buffer)
    peer.serve(OfflineAgent(peer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
