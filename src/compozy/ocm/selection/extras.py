"""Choosing by meaning where its extra is installed, and a sentence where it is not (issue 8 item 7).

The only way to the semantic matcher: it costs a second of start-up and about 60 MiB, so nothing else imports it.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from compozy.model.errors import LocalError
from compozy.model.extras import install_line
from compozy.ocm.selection.documents import Document
from compozy.ocm.selection.matching import Matcher

if TYPE_CHECKING:
    from compozy.ocm.selection.semantic.embedder import Embedder

# Below the cache folder of a home.
CACHE_NAME = "embeddings.db"


def by_meaning(
    cache: Path, told: Callable[[int, int], None] | None = None
) -> Callable[[Sequence[Document]], Matcher]:
    """Return what makes a matcher by words and meaning.

    Args:
        cache: the file that keeps vectors between runs.
        told: called with how many of the texts that were new are embedded.

    Raises:
        LocalError: the extra is not installed.
    """
    embedder = load_embedder()
    from compozy.ocm.selection.semantic.matching import matching_by  # noqa: PLC0415 - only an extra brings numpy

    return matching_by(embedder, cache, told)


@lru_cache(maxsize=1)
def load_embedder() -> "Embedder":
    """Load the model once a process.

    Raises:
        LocalError: the extra is not installed.
    """
    try:
        from compozy.ocm.selection.semantic.minilm import MiniLm  # noqa: PLC0415 - start-up cost, and only an extra brings it
    except ImportError as error:
        raise LocalError(
            f"choosing by meaning needs the package {error.name!r}, which is not installed; install the extra",
            code="semantic_missing",
            hint=install_line("semantic"),
        ) from error
    return MiniLm()
