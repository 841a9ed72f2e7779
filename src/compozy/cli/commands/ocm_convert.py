"""`compozy ocm convert`: manifests and native entries as YAML, JSON, or what the selector reads (issue 8 item 3)."""

from pathlib import Path

import click

from compozy.cli.groups import pass_invocation
from compozy.cli.invocation import Invocation
from compozy.cli.ocm.command import ocm_command, read_paths, refuse_problems, refuse_standard_output
from compozy.cli.output import write, write_json


@ocm_command(
    "convert",
    examples=(
        "compozy ocm convert targets.yaml --to json",
        "compozy ocm convert capability.json --to yaml --out capability.yaml",
        "compozy ocm convert capabilities/ --to targets",
    ),
)
@click.argument("paths", nargs=-1)
@click.option("--to", "form", type=click.Choice(("yaml", "json", "targets")), default="yaml", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write to this file instead of standard output.")
@pass_invocation
def command(invocation: Invocation, paths: tuple[str, ...], form: str, out: Path | None) -> None:
    """Convert manifests, and native catalogue entries to manifests.

    `targets` are the records a selector works with: every default spelled out. Exit codes: 0, 2 invalid.
    """
    import msgspec  # noqa: PLC0415 - start-up cost

    from compozy.documents.atomic import write_atomically  # noqa: PLC0415 - start-up cost
    from compozy.ocm.loading import target_of  # noqa: PLC0415 - start-up cost
    from compozy.ocm.target import to_manifest  # noqa: PLC0415 - start-up cost
    from compozy.ocm.writing import to_json, to_yaml  # noqa: PLC0415 - start-up cost

    loaded = read_paths(paths)
    refuse_problems(loaded.all_problems())
    if out is None:
        refuse_standard_output(invocation)
    targets = [target_of(entry) for entry in loaded.entries]
    if form == "targets":
        bare = [msgspec.structs.replace(target, document={}, source="") for target in targets]
        rows = [{name: getattr(one, name) for name in one.__struct_fields__} for one in bare]
        for row in rows:
            del row["document"], row["source"]
        write_json(rows) if out is None else write_atomically(_real(out), to_json(rows).encode(), mode=0o644)
        return
    documents = [to_manifest(target) for target in targets]
    text = to_yaml(documents) if form == "yaml" else to_json(documents[0] if len(documents) == 1 else documents)
    if out is None:
        write(text)
    else:
        write_atomically(_real(out), text.encode(), mode=0o644)


def _real(path: Path) -> Path:
    return path.absolute()
