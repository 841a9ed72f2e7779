"""`compozy session prompt`: one more turn in a session that exists (contract §3.5 Prompt, §4.1)."""

import click

from compozy.cli import completions
from compozy.cli.attaching import attach_option, uploaded
from compozy.cli.connection import JsonObject, connected, text_of
from compozy.cli.groups import command, pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.output import note, print_object, write_json
from compozy.cli.sessions import read_text, turn_options, who_answers
from compozy.cli.turn_report import finish, login_remedy, report_object
from compozy.cli.turns import Turn, TurnOptions, prompt_body

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


@command(
    "prompt",
    examples=(
        'compozy session prompt sess-0123456789abcdef "and now the tests"',
        'compozy session prompt sess-0123456789abcdef "go on" --on-ask deny -o json',
        'compozy session prompt sess-0123456789abcdef "later" --queue',
        'compozy session prompt sess-0123456789abcdef "as we said" --require-context',
        'compozy session prompt sess-0123456789abcdef "what is wrong here?" --attach screen.png',
    ),
)
@click.argument("session_id", shell_complete=completions.sessions)
@click.argument("message")
@click.option("--provider", help="Use this provider from now on.")
@click.option("--model", help="Use this model from now on (needs --provider).")
@click.option("--reasoning-effort", type=click.Choice(EFFORTS), help="How hard to think (needs --provider).")
@click.option("--speed", type=click.Choice(("normal", "fast")), help="Speed tier (needs --provider).")
@click.option("--queue", "mode", flag_value="queue", help="If the session is busy, run this afterwards.")
@click.option("--steer", "mode", flag_value="steer", help="If the session is busy, hand this to the running turn.")
@click.option(
    "--interrupt", "mode", flag_value="interrupt", help="If the session is busy, end the running turn first."
)
@click.option("--expected-turn-id", help="Refuse unless this turn is running (needed by --interrupt).")
@click.option("--message-id", help="Identity of the message, to send it again safely.")
@click.option("--idempotency-key", help="Identity of the request, to send it again safely.")
@attach_option
@turn_options
@pass_invocation
def session_prompt(
    invocation: Invocation,
    /,
    session_id: str,
    message: str,
    provider: str | None,
    model: str | None,
    reasoning_effort: str | None,
    speed: str | None,
    mode: str | None,
    expected_turn_id: str | None,
    message_id: str | None,
    idempotency_key: str | None,
    attach: tuple[str, ...],
    on_ask: str | None,
    timeout: float | None,
    require_context: bool,
) -> int:
    """Send MESSAGE to session SESSION_ID and follow the turn until it ends; `-` reads it from standard input."""
    body = prompt_body(
        read_text(message, "the message"),
        message_id=message_id or "",
        idempotency_key=idempotency_key or "",
        require_context=require_context,
    )
    body |= _given({"mode": mode, "expected_turn_id": expected_turn_id})
    runtime = _given({"provider": provider, "model": model, "reasoning_effort": reasoning_effort, "speed": speed})
    if runtime and provider is None:
        raise click.UsageError("--model, --reasoning-effort and --speed need --provider beside them")
    if runtime:
        body["runtime"] = runtime
    options = TurnOptions(on_ask=who_answers(invocation, on_ask), timeout=timeout)
    with connected(invocation) as client:
        session = client.sessions.get(session_id)
        if attach:
            body["attachments"] = uploaded(client, session, attach)
        turn = Turn(client, invocation, session, options)
        result = turn.run(body)
    if result.queued is not None:
        if invocation.is_human:
            note(invocation, f"{text_of(result.queued, 'status')}: the session is busy; it takes this up later")
        elif invocation.format == "json":
            write_json({"prompt": result.queued})
        else:
            print_object(invocation, result.queued, (), name="prompt")
        return 0
    return finish(invocation, result, report_object(result, session), remedy=login_remedy(result, session))


def _given(values: dict[str, str | None]) -> JsonObject:
    return {key: value for key, value in values.items() if value}
