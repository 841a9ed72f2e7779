"""Make src/compozy/lexical/related_words.gz anew: a vocabulary, technical_words.txt and the model of `semantic`.

Two minutes; needed only when stems or filler words change. `--check` says whether the stems of the table are those
that the code makes today, without computing a vector.
"""

import argparse
import gzip
from array import array
from importlib.resources import files
from pathlib import Path

import numpy as np

from compozy.lexical.related import related_words
from compozy.lexical.words import FILLER, stem
from compozy.ocm.selection.semantic.minilm import MiniLm

TABLE = Path(__file__).parents[1] / "src/compozy/lexical/related_words.gz"
# The shape of the table was chosen on ToolE's training rows; see docs/selection.md.
NEIGHBOURS, LEAST_COSINE, FORMS = 24, 0.3, 3
# What BERT's vocabulary of 2018 splits, although agents hear it daily; most used is what it has, so these come last.
TECHNICAL = Path(__file__).with_name("technical_words.txt")


def read_forms() -> dict[str, list[str]]:
    """Return the English words of the vocabulary and the technical ones by stem, the most used first."""
    packed = files("compozy.ocm.selection.semantic").joinpath("vocabulary.txt.gz").read_bytes()
    forms: dict[str, list[str]] = {}
    for word in [*gzip.decompress(packed).decode().split("\n"), *TECHNICAL.read_text(encoding="ascii").split()]:
        if len(word) > 2 and word.isascii() and word.isalpha() and word not in FILLER:
            found = forms.setdefault(stem(word), [])
            if word not in found:
                found.append(word)
    return forms


def build() -> bytes:
    """Return the table, uncompressed."""
    forms = read_forms()
    words = [word for found in forms.values() for word in found]
    vectors = MiniLm().embed(words)
    # What all single words have in common says nothing about any of them.
    vectors -= vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    row = {word: number for number, word in enumerate(words)}
    rows = np.array([vectors[[row[word] for word in found[:FORMS]]].mean(axis=0) for found in forms.values()])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, 0.0)
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :NEIGHBOURS]
    kept = np.zeros(cosines.shape, dtype=bool)
    np.put_along_axis(kept, nearest, True, axis=1)
    kept = (kept | kept.T) & (cosines > LEAST_COSINE)
    lengths, places, values = array("H"), array("H"), bytearray()
    for number in range(len(rows)):
        found = np.flatnonzero(kept[number])
        lengths.append(len(found))
        places.extend(found.tolist())
        values.extend(np.round(np.clip(cosines[number, found], 0, 1) * 100).astype(np.uint8).tolist())
    return "\n".join(forms).encode("ascii") + b"\n\n" + lengths.tobytes() + places.tobytes() + bytes(values)


def main() -> None:
    """Write the table, or check its stems."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true")
    if arguments.parse_args().check:
        if list(read_forms()) != related_words().stems:
            raise SystemExit("the stems have changed: run scripts/build_related_words.py")
        return
    TABLE.write_bytes(gzip.compress(build(), mtime=0))


if __name__ == "__main__":
    main()
