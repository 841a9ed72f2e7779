"""Where made manifests go: one stream on standard output, or a folder with one file each."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from compozy.cli.checking.report import shown_path
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.answering import answer
from compozy.cli.ocm.command import (
    EXIT_INVALID_MANIFEST,
    InvalidManifests,
    is_strict,
    refuse_standard_output,
    wants_findings,
)
from compozy.cli.output import note, write, write_json_line
from compozy.cli.wording import count
from compozy.documents.limits import MAX_NESTING
from compozy.model.diagnostic import Severity
from compozy.ocm.index import manifest_path
from compozy.ocm.loading import read_document
from compozy.ocm.problems import Problem
from compozy.ocm.publishing import write_below
from compozy.ocm.writing import to_json, to_yaml


def put(
    invocation: Invocation, documents: Sequence[Mapping[str, object]], out: Path | None, unmapped: Sequence[str] = ()
) -> int:
    """Write manifests to `out` (a folder) as `<id>/capability.yaml`, or print them; say what was left behind.

    Under --strict nothing is written when something would be left behind. Returns the exit code.
    """
    if out is None:
        refuse_standard_output(invocation)
    fails = is_strict() and bool(unmapped)
    if not fails:
        _put(invocation, documents, out, unmapped)
    tell_unmapped(invocation, unmapped)
    return EXIT_INVALID_MANIFEST if fails else 0


def tell_unmapped(invocation: Invocation, unmapped: Sequence[str]) -> None:
    """Say what has no place on the other side: a note each, or findings."""
    if wants_findings(invocation):
        from compozy.cli.ocm.reporting import report_problems  # noqa: PLC0415 - start-up cost

        severity = Severity.ERROR if is_strict() else Severity.WARNING
        problems = [
            Problem(code="not-carried-over", field="", message=f"not carried over: {one}", severity=severity)
            for one in unmapped
        ]
        tool = click.get_current_context().info_name
        report_problems(invocation, problems, tool=f"ocm {tool}")
        return
    for one in unmapped:
        note(invocation, f"not carried over: {one}")


def _put(
    invocation: Invocation, documents: Sequence[Mapping[str, object]], out: Path | None, unmapped: Sequence[str]
) -> None:
    texts = [_readable(document) for document in documents]
    if out is None:
        print_documents(invocation, documents)
        return
    paths: dict[str, str] = {}
    for document, text in zip(documents, texts, strict=True):
        # The same rules as for publishing: ids never lead out of the folder, nor two to one file.
        path = manifest_path(str(document["id"])).removeprefix("manifests/").removesuffix(".json") + ".yaml"
        if path in paths:
            raise InvalidManifests(f"two manifests would be written to {path}; give them different ids")
        paths[path] = text
    out.mkdir(parents=True, exist_ok=True)
    for path, text in paths.items():
        write_below(out, path, text.encode())
    note(invocation, f"wrote {count(len(paths), 'manifest')} below {shown_path(str(out.absolute()))}")
    if not invocation.is_human:
        answer(invocation, {"written": [str(out / path) for path in paths], "unmapped": list(unmapped)})


def print_documents(invocation: Invocation, documents: Sequence[Mapping[str, object]]) -> None:
    """Print manifests: a YAML stream for people, a line each in jsonl, else JSON."""
    if invocation.is_human:
        write(to_yaml(documents))
    elif invocation.format == "jsonl":
        for document in documents:
            write_json_line(document)
    else:
        write(to_json(documents[0] if len(documents) == 1 else list(documents)))


def _readable(document: Mapping[str, object]) -> str:
    """Return the text of a made manifest, once it was read again: what strangers wrote may have no place in one.

    Raises:
        InvalidManifests: it would not be a valid manifest, or another one.
    """
    identity = str(document.get("id"))[:80]
    try:
        text = to_yaml([document])
    except RecursionError as error:
        raise InvalidManifests(f"{identity!r} would nest deeper than {MAX_NESTING} levels; shorten it") from error
    loaded = read_document(text, "capability.yaml")
    wrong = [one for one in loaded.all_problems() if one.severity is Severity.ERROR]
    if wrong:
        raise InvalidManifests(f"{identity!r} cannot become a manifest: {wrong[0].message}; correct it there")
    if [entry.document for entry in loaded.entries] != [document]:
        raise InvalidManifests(
            f"{identity!r} holds a value that no manifest can carry, such as NaN; correct it there"
        )
    return text
