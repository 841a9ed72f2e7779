"""What only a person may do: trust, and writing secrets (decisions D28).

An agent's own commands carry its session in the environment; such a call is refused here. That is a rule for
well-behaved agents, not a wall: a program that runs as you can do what you can do (SECURITY.md).
"""

import os

from compozy.model.errors import EXIT_DENIED, LocalError

_AGENT_VARIABLES = ("COMPOZY_SESSION_ID", "COMPOZY_AGENT")


def refuse_agents(what: str) -> None:
    """Refuse a call that an agent makes.

    Raises:
        LocalError: exit code 77; the environment names a session.
    """
    if any(os.environ.get(name) for name in _AGENT_VARIABLES):
        raise LocalError(
            f"{what} is for a person, not for an agent: run it in a terminal of your own",
            exit_code=EXIT_DENIED,
            code="operator_only",
        )
