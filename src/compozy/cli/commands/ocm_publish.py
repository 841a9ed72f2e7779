"""`compozy ocm index|publish|verify|keygen`: catalogues for others, signed and checked (issue 8 item 5)."""

from collections.abc import Mapping
from pathlib import Path

import click

from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.answering import answer
from compozy.cli.ocm.command import (
    EXIT_INVALID_MANIFEST,
    is_strict,
    ocm_command,
    refuse_standard_output,
    valid_entries,
    wants_findings,
)
from compozy.cli.output import clean, note, write


def _documents(invocation: Invocation, paths: tuple[str, ...]) -> list[Mapping[str, object]]:
    return [entry.document for entry in valid_entries(invocation, paths) if isinstance(entry.document, Mapping)]


@ocm_command(
    "index", examples=("compozy ocm index capabilities/", "compozy ocm index capabilities/ --out index.json")
)
@click.argument("paths", nargs=-1)
@click.option("--out", type=click.Path(path_type=Path), help="Write to this file instead of standard output.")
@pass_invocation
def index(invocation: Invocation, paths: tuple[str, ...], out: Path | None) -> None:
    """Print the index of manifests: ids, digests, summaries and search terms.

    The same manifests give the same bytes. Exit codes: 0, 2 invalid.
    """
    from compozy.ocm.index import build_index  # noqa: PLC0415 - start-up cost
    from compozy.ocm.writing import to_json  # noqa: PLC0415 - start-up cost

    if out is None:
        refuse_standard_output(invocation)
        write(to_json(build_index(_documents(invocation, paths))))
        return
    from compozy.documents.atomic import write_atomically  # noqa: PLC0415 - start-up cost

    write_atomically(out.absolute(), to_json(build_index(_documents(invocation, paths))).encode(), mode=0o644)


@ocm_command(
    "publish",
    examples=(
        "compozy ocm publish public/ capabilities/",
        "compozy ocm publish public/ capabilities/ --sign publisher.key --title 'Capabilities of Acme'",
    ),
)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("paths", nargs=-1)
@click.option("--sign", "key", type=click.Path(path_type=Path), help="Sign the index with this key.")
@click.option("--title", default="Capabilities", show_default=True, help="The title of the page.")
@click.option("--outcomes", type=click.Path(path_type=Path), help="Outcomes of `ocm learn`: they become priors.")
@click.option("--watch", "is_watching", is_flag=True, help="Publish again after each change, until Ctrl-C.")
@pass_invocation
def publish(
    invocation: Invocation,
    folder: Path,
    paths: tuple[str, ...],
    key: Path | None,
    title: str,
    outcomes: Path | None,
    is_watching: bool,
) -> int:
    """Write a folder that any web server can host: index, manifests, schema, and a page with a search.

    Writes below FOLDER only; manifests that an earlier run published and that are gone are removed.
    """

    def run() -> int:
        documents = _with_outcomes(_documents(invocation, paths), outcomes)
        return _publish(invocation, folder, documents, key, title)

    if is_watching:
        from compozy.cli.ocm.watching import watch  # noqa: PLC0415 - start-up cost

        return watch(paths, run)
    return run()


def _with_outcomes(documents: list[Mapping[str, object]], outcomes: Path | None) -> list[Mapping[str, object]]:
    if outcomes is None:
        return documents
    from datetime import UTC, datetime  # noqa: PLC0415 - start-up cost

    from compozy.ocm.selection.outcomes import read_results  # noqa: PLC0415 - start-up cost
    from compozy.ocm.selection.priors import with_learned_priors  # noqa: PLC0415 - start-up cost

    return with_learned_priors(documents, read_results(outcomes), datetime.now(UTC))


def _publish(
    invocation: Invocation, folder: Path, documents: list[Mapping[str, object]], key: Path | None, title: str
) -> int:
    from compozy.ocm.publishing import publish as write_folder  # noqa: PLC0415 - start-up cost
    from compozy.ocm.signing import read_private_key  # noqa: PLC0415 - start-up cost

    done = write_folder(documents, folder, title=title, key=read_private_key(key) if key else None)
    if invocation.is_human:
        signed = f", signed by {done.key_id}" if done.key_id else ""
        write(clean(f"published {len(done.written)} files to {folder}{signed}\n"))
        for path in done.removed:
            write(clean(f"removed {path}\n"))
        note(invocation, f"look at it: open {folder / 'index.html'} in a browser")
    else:
        answer(invocation, {"written": list(done.written), "removed": list(done.removed), "key_id": done.key_id})
    return 0


@ocm_command(
    "verify",
    examples=("compozy ocm verify public/ --key publisher.key.pub", "compozy ocm verify public/"),
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--key", type=click.Path(path_type=Path), help="The publisher's public key.")
@pass_invocation
def verify(invocation: Invocation, folder: Path, key: Path | None) -> int:
    """Check a published folder: the signature of its index (with --key), and every manifest's digest.

    Exit codes: 0 everything fits, 2 something does not.
    """
    from compozy.model.errors import InvalidRequest  # noqa: PLC0415 - start-up cost
    from compozy.ocm.publishing import verify_folder  # noqa: PLC0415 - start-up cost
    from compozy.ocm.signing import read_public_key  # noqa: PLC0415 - start-up cost

    try:
        found = verify_folder(folder, read_public_key(key) if key else None)
    except InvalidRequest as error:
        return _told(invocation, folder, (error.message,), 0, "")
    problems = found.problems
    if not found.key_id:
        unsigned = "only digests were checked: give --key to know who published this"
        note(invocation, unsigned)
        problems = (*problems, unsigned) if is_strict() else problems
    return _told(invocation, folder, problems, found.count, found.key_id)


def _told(invocation: Invocation, folder: Path, problems: tuple[str, ...], count: int, key_id: str) -> int:
    if wants_findings(invocation):
        from compozy.cli.ocm.reporting import report_problems  # noqa: PLC0415 - start-up cost
        from compozy.ocm.problems import Problem  # noqa: PLC0415 - start-up cost

        rows = [Problem(code="published", field="", message=one, path=str(folder)) for one in problems]
        return report_problems(invocation, rows, tool="ocm verify")
    if not invocation.is_human:
        answer(invocation, {"valid": not problems, "count": count, "key_id": key_id, "problems": list(problems)})
    else:
        for problem in problems:
            write(clean(f"error: {problem}\n"))
        if not problems:
            write(
                ("1 manifest fits" if count == 1 else f"{count} manifests fit")
                + (f", signed by {key_id}\n" if key_id else "\n")
            )
    return EXIT_INVALID_MANIFEST if problems else 0


@ocm_command("keygen", examples=("compozy ocm keygen publisher.key",), strict=False)
@click.argument("path", type=click.Path(path_type=Path))
@pass_invocation
def keygen(invocation: Invocation, path: Path) -> None:
    """Make a key to sign with: PATH (only you can read it) and PATH.pub (for everybody)."""
    from compozy.ocm.signing import PUBLIC_SUFFIX, make_keys  # noqa: PLC0415 - start-up cost

    made = make_keys(path.absolute())
    if invocation.is_human:
        write(clean(f"wrote {path} and {path}{PUBLIC_SUFFIX}: {made}\n"))
    else:
        answer(invocation, {"private": str(path), "public": f"{path}{PUBLIC_SUFFIX}", "key_id": made})
