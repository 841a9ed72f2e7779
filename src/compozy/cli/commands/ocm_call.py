"""`compozy ocm call`: choose a capability for a task and call its endpoint (issue 8 items 4 and 6).

The choice is that of `ocm select`, hard constraints included. A credential is named, never given; it may come from
the vault, which is why agents may not use one.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from compozy.cli.commands.ocm_select import make_selector, refuse_swapped, report_none_fits, told_endpoint
from compozy.cli.failures import describe, report
from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.answering import answer
from compozy.cli.ocm.command import InvalidManifests, ocm_command, wants_findings
from compozy.cli.ocm.requests import Number, read_request, request_options
from compozy.cli.operators import refuse_agents
from compozy.cli.output import clean, note, write
from compozy.cli.sessions import read_text
from compozy.cli.wording import none_fits
from compozy.model.errors import EXIT_GENERIC, EXIT_OK

if TYPE_CHECKING:
    from compozy.ocm.endpoints.binding import BoundEndpoint
    from compozy.ocm.endpoints.calls import Call, Options, Reply, SecretResolver
    from compozy.ocm.endpoints.errors import EndpointFailed
    from compozy.ocm.policy import Request
    from compozy.ocm.selection.engine import Selector
    from compozy.ocm.target import Target


@ocm_command(
    "call",
    examples=(
        'compozy ocm call "refund order 1182" capabilities/ --region eu --credential env:REFUNDS_TOKEN',
        'compozy ocm call "translate this" targets.yaml --id acme/translator --credential vault:acme/token -o json',
        'compozy ocm call - tools.yaml --id acme/tracker/search --arguments \'{"query": "late"}\'',
    ),
)
@click.argument("task")
@click.argument("paths", nargs=-1, required=True)
@click.option("--id", "identity", default="", metavar="ID", help="This one, if the constraints admit it.")
@request_options
@click.option("--minimum", type=Number(0, 1), default=0.2, show_default=True, help="Below this none fits.")
@click.option(
    "--protocol", default="", type=click.Choice(("", "http", "a2a", "mcp", "openai")), help="Only such an endpoint."
)
@click.option(
    "--credential", default="", metavar="REFERENCE", help="env:NAME or vault:NAME; only what you name is sent."
)
@click.option("--allow-http", is_flag=True, help="Also without encryption to another machine.")
@click.option("--timeout", type=Number(0.1, 3600), default=60.0, show_default=True, help="Seconds for all of it.")
@click.option(
    "--max-bytes", type=click.IntRange(1, 1 << 30), default=4 << 20, show_default=True, help="Longest answer."
)
@click.option("--context", "context_text", default="", metavar="JSON", help="An object that goes along.")
@click.option("--arguments", "arguments_text", default="", metavar="JSON", help="Arguments of a tool, as an object.")
@click.option(
    "--conversation", default="", metavar="ID", help="Continue this one (A2A): the id of an earlier answer."
)
@click.option("--tool", default="", help="The tool of an MCP server, where the manifest names none.")
@click.option("--model-name", default="", metavar="NAME", help="The model, where the manifest names none.")
@click.option("--cert", type=click.Path(path_type=Path), help="Certificate for mtls (PEM).")
@click.option("--cert-key", type=click.Path(path_type=Path), help="Its key (PEM).")
@click.option("--ca", type=click.Path(path_type=Path), help="Trust this authority (PEM) instead of the system's.")
@pass_invocation
def command(
    invocation: Invocation,
    /,
    task: str,
    paths: tuple[str, ...],
    identity: str,
    minimum: float,
    protocol: str,
    context_text: str,
    arguments_text: str,
    conversation: str,
    **given: object,
) -> int:
    """Choose a capability for TASK among the manifests at PATHS and call its endpoint; TASK `-` is standard input.

    Needs no daemon. Exit codes: 0 answered, 1 none fits or no answer, 2 refused before anything was sent.
    """
    from compozy.ocm.endpoints.binding import bind_endpoint  # noqa: PLC0415 - start-up cost
    from compozy.ocm.endpoints.calls import Call  # noqa: PLC0415 - start-up cost

    if task == "-" and "-" in paths:
        raise click.UsageError("standard input cannot be both the task and a manifest")
    refuse_swapped(task, paths)
    options, secrets = _options(invocation, given)
    request = read_request(given)
    call = Call(
        task=read_text(task, "the task"),
        context=_object(context_text, "--context") or {},
        arguments=_object(arguments_text, "--arguments"),
        conversation=conversation,
    )
    target = _choose(invocation, make_selector(paths, None, None), call.task, request, identity, minimum)
    if target is None:
        return EXIT_GENERIC
    bound = bind_endpoint(target, request.region, protocol=protocol, options=options, secrets=secrets)
    return _call(invocation, bound, call)


def _call(invocation: Invocation, bound: "BoundEndpoint", call: "Call") -> int:
    import asyncio  # noqa: PLC0415 - start-up cost

    from compozy.ocm.endpoints.errors import EndpointFailed  # noqa: PLC0415 - start-up cost

    note(invocation, f"{bound.id} at {told_endpoint(bound.choice)}")
    try:
        reply = asyncio.run(bound.ask(call))
    except EndpointFailed as error:
        # "No answer" is an answer to the question, and no wrong call.
        if wants_findings(invocation):
            _report(invocation, bound, error)
        else:
            report(describe(error), invocation.format)
        return EXIT_GENERIC
    if invocation.is_human:
        _show(invocation, reply)
    else:
        answer(invocation, {"id": bound.id, "endpoint": bound.choice, **msgspec.structs.asdict(reply)})
    return EXIT_OK if reply.success else EXIT_GENERIC


def _show(invocation: Invocation, reply: "Reply") -> None:
    # Terminal controls in an answer are a stranger's.
    write(clean(reply.text).rstrip("\n") + "\n")
    if not reply.success:
        note(invocation, f"the endpoint says this is no success{f' ({reply.state})' if reply.state else ''}")
    counts = [f"{name} {number}" for name, number in reply.usage.items()]
    price = [f"{reply.cost_usd:g} USD"] if reply.cost_usd is not None else []
    if counts or price:
        note(invocation, f"tokens: {', '.join(counts)}" + (f"; {price[0]}" if price else "") if counts else price[0])


def _report(invocation: Invocation, bound: "BoundEndpoint", error: "EndpointFailed") -> None:
    from compozy.cli.ocm.reporting import report_problems  # noqa: PLC0415 - start-up cost
    from compozy.ocm.problems import Problem  # noqa: PLC0415 - start-up cost

    problem = Problem(code="call", field="endpoints", message=f"{bound.id}: {error.message}")
    report_problems(invocation, [problem], tool="ocm call")


def _choose(
    invocation: Invocation, selector: "Selector", task: str, request: "Request", identity: str, minimum: float
) -> "Target | None":
    """Return the named capability if it is admitted, else the one that fits; None after saying that none does."""
    targets = {target.id: target for target in selector.targets}
    if identity:
        if identity not in targets:
            raise InvalidManifests(f"{identity!r} is not among the manifests there; correct the id")
        from compozy.ocm.policy import decide  # noqa: PLC0415 - start-up cost

        verdict = decide(targets[identity], request)
        if not verdict.admitted:
            raise InvalidManifests(f"{identity!r} may not take this: {verdict.reason} (rule {verdict.rule})")
        return targets[identity]
    outcome = selector.select(task, request, minimum=minimum)
    if outcome.chosen:
        return targets[outcome.chosen]
    if wants_findings(invocation):
        report_none_fits(invocation, outcome, "ocm call")
    elif invocation.is_human:
        write(clean(f"{none_fits(outcome.reason)}\n"))
    else:
        answer(invocation, outcome)
    return None


def _options(invocation: Invocation, given: dict[str, object]) -> "tuple[Options, SecretResolver]":
    """Take the options of the call out of what was given; what is left states the request."""
    from compozy.config.redaction import Redactor  # noqa: PLC0415 - start-up cost
    from compozy.config.secrets import Secrets  # noqa: PLC0415 - start-up cost
    from compozy.ocm.endpoints.calls import Options  # noqa: PLC0415 - start-up cost

    names = {
        "credential": "credential",
        "allow_http": "allow_plain_http",
        "timeout": "timeout",
        "max_bytes": "max_answer_bytes",
        "tool": "tool",
        "model_name": "model",
        "cert": "certificate",
        "cert_key": "certificate_key",
        "ca": "ca_file",
    }
    chosen = {field: given.pop(name) for name, field in names.items()}
    if chosen["credential"]:
        refuse_agents("sending a credential")
    options = msgspec.convert(chosen, Options, dec_hook=_as_is)
    return options, Secrets(invocation.home, Redactor()).find


def _as_is(kind: type, value: object) -> object:
    return value


def _object(text: str, option: str) -> dict[str, object] | None:
    if not text:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise click.UsageError(f'{option} takes a JSON object, such as \'{{"query": "late orders"}}\'')
    return value
