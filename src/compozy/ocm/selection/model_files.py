"""Trained models on disk: one file beside the catalogue, bound to what it was trained for by a digest (issue 8).

A model of another catalogue is refused: its capabilities may mean something else by now.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from compozy.documents.atomic import write_atomically
from compozy.documents.files import read_regular
from compozy.model.errors import LocalError
from compozy.model.extras import install_line
from compozy.ocm.selection.documents import Document

if TYPE_CHECKING:
    from compozy.ocm.selection.semantic.embedder import Embedder
    from compozy.ocm.selection.trained import TrainedModel

_MAGIC = b"compozy-trained-1 "
# What earlier versions of this program wrote begins with this too.
_FAMILY = (b"compozy-trained-", b"compozy-linear-")
# Ten thousand capabilities times half a million features would still be less.
_MOST_BYTES = 4 << 30
_DIGEST_LENGTH = len("sha256:") + 64


def trainer() -> ModuleType:
    """Return the module that trains and applies models.

    Raises:
        LocalError: numpy is not installed.
    """
    try:
        from compozy.ocm.selection import trained as module  # noqa: PLC0415 - start-up cost, and only an extra brings numpy
    except ImportError as error:
        raise LocalError(
            "a trained model needs numpy, which is not installed; install the extra `train`",
            code="numpy_missing",
            hint=install_line("train"),
        ) from error
    return module


def catalogue_digest(documents: Sequence[Document]) -> str:
    """Return the digest of what a model was trained for: ids and texts, in order."""
    told = [[one.id, [[field.place, field.text, field.repeat] for field in one.fields]] for one in documents]
    return "sha256:" + hashlib.sha256(json.dumps(told, ensure_ascii=True).encode()).hexdigest()


def save_model(path: Path, model: "TrainedModel", digest: str) -> None:
    """Write a model; `digest` is the one of the catalogue it was trained for."""
    data = model.to_bytes()
    write_atomically(path, _MAGIC + digest.encode() + b" " + _sum(data) + b"\n" + data, mode=0o644)


def _sum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def load_model(path: Path, digest: str, embedder: "Callable[[], Embedder] | None" = None) -> "TrainedModel":
    """Read a model for the catalogue of that digest.

    Args:
        path: the file.
        digest: of the catalogue.
        embedder: gives the embedder, and is asked only by a model that was trained with one.

    Raises:
        LocalError: it cannot be read, is damaged, of an older version, or belongs to another catalogue or embedder;
            or numpy is missing.
    """
    module = trainer()
    try:
        data = read_regular(path, _MOST_BYTES)
    except OSError as error:
        raise LocalError(
            f"could not read the model {str(path)!r}: {(error.strerror or str(error)).lower()}; train it again",
            code="model_unreadable",
        ) from error
    if len(data) > _MOST_BYTES:
        raise LocalError(f"{str(path)!r} is larger than any trained model; train it again", code="model_invalid")
    head, _, rest = data.partition(b"\n")
    if head.startswith(_FAMILY) and not head.startswith(_MAGIC):
        raise LocalError(
            f"the model {str(path)!r} was written by another version of compozy; train it again with `ocm train`",
            code="model_outdated",
        )
    told, _, content = head.removeprefix(_MAGIC).decode("ascii", "replace").partition(" ")
    if not head.startswith(_MAGIC) or len(told) != _DIGEST_LENGTH:
        raise LocalError(
            f"{str(path)!r} is no trained model; name a file that `ocm train` wrote", code="model_invalid"
        )
    if told != digest:
        raise LocalError(
            f"the model {str(path)!r} was trained for another catalogue ({told[:15]}…, this one is {digest[:15]}…); "
            "train it again with `ocm train`",
            code="model_outdated",
        )
    if content.encode() != _sum(rest):
        # Weights that were changed would choose all the same, only otherwise.
        raise LocalError(
            f"the model {str(path)!r} is damaged (it is not what was trained); train it again", code="model_invalid"
        )
    try:
        model: TrainedModel = module.TrainedModel.from_bytes(rest, embedder)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, IndexError) as error:
        raise LocalError(
            f"the model {str(path)!r} is damaged ({error}); train it again", code="model_invalid"
        ) from error
    return model
