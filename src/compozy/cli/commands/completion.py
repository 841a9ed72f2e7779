"""`compozy completion`: the script that teaches a shell to complete `compozy` commands and options."""

import click
from click.shell_completion import get_completion_class

from compozy.cli.groups import command
from compozy.cli.output import write

SHELLS = ("bash", "zsh", "fish")


@command(
    "completion",
    examples=(
        "compozy completion bash > ~/.local/share/bash-completion/completions/compozy",
        "compozy completion zsh > ~/.zfunc/_compozy",
        "compozy completion fish > ~/.config/fish/completions/compozy.fish",
    ),
)
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script for SHELL (bash, zsh or fish); put it where your shell looks for completions."""
    from compozy.cli.app import COMPLETE_VARIABLE, root_command  # noqa: PLC0415 - the root loads this module

    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"no completion for {shell!r}; choose one of {', '.join(SHELLS)}")
    script = made(root_command(), {}, "compozy", COMPLETE_VARIABLE).source()
    if shell == "fish":
        # Click's script cuts descriptions, and names, at a comma of their own.
        script = script.replace('string split ","', 'string split --max 1 ","')
    write(script + "\n")
