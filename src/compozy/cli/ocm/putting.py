"""Where made manifests go: one stream on standard output, or a folder with one file each."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from compozy.cli.checking.report import shown_path
from compozy.cli.invocation import Invocation
from compozy.cli.output import note, write, write_json
from compozy.ocm.index import manifest_path
from compozy.ocm.publishing import write_below
from compozy.ocm.writing import to_json, to_yaml


def put(
    invocation: Invocation, documents: Sequence[Mapping[str, object]], out: Path | None, unmapped: Sequence[str] = ()
) -> None:
    """Write manifests to `out` (a folder) as `<id>/capability.yaml`, or print them; say what was left behind."""
    if out is not None:
        paths = {}
        for document in documents:
            # The same rules as for publishing: ids never lead out of the folder, nor two to one file.
            path = manifest_path(str(document["id"])).removeprefix("manifests/").removesuffix(".json") + ".yaml"
            if path in paths:
                raise click.ClickException(f"two manifests would be written to {path}; give them different ids")
            paths[path] = document
        out.mkdir(parents=True, exist_ok=True)
        for path, document in paths.items():
            write_below(out, path, to_yaml([document]).encode())
        note(invocation, f"wrote {len(paths)} manifest(s) below {shown_path(str(out.absolute()))}")
        if not invocation.is_human:
            write_json({"written": [str(out / path) for path in paths], "unmapped": list(unmapped)})
    elif invocation.is_human:
        write(to_yaml(documents))
    else:
        write(to_json(documents[0] if len(documents) == 1 else list(documents)))
    for one in unmapped:
        note(invocation, f"not carried over: {one}")
