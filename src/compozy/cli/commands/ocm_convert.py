"""`compozy ocm convert`: manifests and native entries as YAML, JSON, or what the selector reads (issue 8 item 3)."""

from pathlib import Path

import click

from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.command import (
    EXIT_INVALID_MANIFEST,
    is_strict,
    ocm_command,
    read_paths,
    refuse_problems,
    refuse_standard_output,
)
from compozy.cli.output import write
from compozy.ocm.entries import Entry


@ocm_command(
    "convert",
    examples=(
        "compozy ocm convert targets.yaml --to json",
        "compozy ocm convert capability.json --to yaml --out capability.yaml",
        "compozy ocm convert capabilities/ --to targets",
        "compozy ocm convert capability.yaml --to agent-card --out agent-card.json",
    ),
)
@click.argument("paths", nargs=-1)
@click.option(
    "--to",
    "form",
    type=click.Choice(("yaml", "json", "targets", "agent-card")),
    help="Default: as -o or the name of --out says, else yaml.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to this file instead of standard output.")
@pass_invocation
def command(invocation: Invocation, paths: tuple[str, ...], form: str | None, out: Path | None) -> int:
    """Convert manifests, and native catalogue entries to manifests.

    `targets` are the records a selector works with: every default spelled out. `agent-card` is an A2A card: that of
    one agent, or one with a skill for each manifest. What only native entries know is kept under `metadata.native`;
    what has no place on the other side is named on standard error. Exit codes: 0, 2 invalid.
    """
    loaded = read_paths(paths)
    refuse_problems(loaded.all_problems())
    if out is None:
        refuse_standard_output(invocation)
    if form == "targets":
        _put(_targets(loaded.entries), out)
        return 0
    from compozy.cli.ocm.putting import print_documents, tell_unmapped  # noqa: PLC0415 - start-up cost
    from compozy.ocm.writing import to_json, to_yaml  # noqa: PLC0415 - start-up cost

    documents, unmapped = _manifests(loaded.entries)
    made: object = documents[0] if len(documents) == 1 else documents
    if form == "agent-card":
        made, more = _card(documents)
        unmapped += more
    fails = is_strict() and bool(unmapped)
    if not fails and form is None and out is None:
        print_documents(invocation, documents)
    elif not fails:
        is_json = out is not None and out.suffix.lower() == ".json" if form is None else form != "yaml"
        _put(to_json(made) if is_json else to_yaml(documents), out)
    tell_unmapped(invocation, unmapped)
    return EXIT_INVALID_MANIFEST if fails else 0


def _manifests(entries: list[Entry]) -> tuple[list[dict[str, object]], list[str]]:
    """Return every entry as a manifest, and what has no place in it."""
    from compozy.ocm.bridge.native import from_native_entry  # noqa: PLC0415 - start-up cost

    documents: list[dict[str, object]] = []
    unmapped: list[str] = []
    for entry in entries:
        assert isinstance(entry.document, dict)
        if not entry.is_native:
            documents.append(entry.document)
            continue
        draft = from_native_entry(entry.document)
        documents.append(draft.document)
        unmapped += [f"{entry.id}: {one}" for one in draft.unmapped]
    return documents, unmapped


def _card(documents: list[dict[str, object]]) -> tuple[dict[str, object], tuple[str, ...]]:
    from compozy.ocm.bridge.a2a import card_of, to_card  # noqa: PLC0415 - start-up cost

    if len(documents) == 1:
        return card_of(documents[0])
    publishers = {str(document.get("publisher", "")) for document in documents}
    publisher = publishers.pop() if len(publishers) == 1 else ""
    names = ", ".join(str(document.get("name") or document["id"]) for document in documents)
    return to_card(documents, name=publisher or "Capabilities", description=f"Offers {names}", publisher=publisher)


def _targets(entries: list[Entry]) -> str:
    from compozy.ocm.loading import target_of  # noqa: PLC0415 - start-up cost
    from compozy.ocm.writing import to_json  # noqa: PLC0415 - start-up cost

    rows = []
    for target in map(target_of, entries):
        row = {name: getattr(target, name) for name in target.__struct_fields__}
        # The manifest itself and the place it came from are no part of what a selector compares.
        del row["document"], row["source"]
        rows.append(row)
    return to_json(rows)


def _put(text: str, out: Path | None) -> None:
    if out is None:
        write(text)
        return
    from compozy.documents.atomic import write_atomically  # noqa: PLC0415 - start-up cost

    write_atomically(out.absolute(), text.encode(), mode=0o644)
