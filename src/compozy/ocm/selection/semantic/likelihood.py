"""How likely a document is right for a task: its nearness beside that of its rivals and of things unrelated.

Some tasks are near to everything and some to nothing, so a nearness says little by itself. A fixed background of what
programs and agents of all kinds do (`background.txt`, written for this purpose) stands for what a catalogue does not
offer: the best document has to be nearer than that too. It knows nothing of how nearness comes about.
"""

import math
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

# Logistic regression on choices of the training rows; docs/selection.md says how.
_BASE, _NEARNESS, _COSINE, _COVERAGE, _EXAMPLES, _CROWD, _USUAL = 11.6, 12.4, 3.9, 1.9, -1.5, -27.2, 16.5
# How much nearer a rival has to be to count e times as much.
_SHARPNESS = 0.1


class Evidence:
    """One task beside the background and all documents.

    Args:
        background: cosines of the task and the background.
        near: how near each document is.
        admitted: which documents compete.
    """

    def __init__(
        self, background: NDArray[np.float32], near: NDArray[np.float32], admitted: NDArray[np.bool_]
    ) -> None:
        self._near, self._admitted = near, admitted
        self._usual = float(background.mean())
        self._rivals = np.exp(near / _SHARPNESS)
        self._sum = float(np.exp(background / _SHARPNESS).sum() + self._rivals.sum(where=admitted))

    def probability(self, number: int, cosine: float, coverage: float, examples: bool) -> float:
        """Return the chance that a document is right.

        Args:
            number: the document.
            cosine: how much its character groups resemble those of the task.
            coverage: the share of the task's telling words that it has.
            examples: whether it has examples: their nearness is another than that of a description.
        """
        own = float(self._rivals[number]) if self._admitted[number] else 0.0
        crowd = _SHARPNESS * math.log(self._sum - own)
        drawn = _BASE + _NEARNESS * float(self._near[number]) + _COSINE * cosine + _COVERAGE * coverage
        drawn += _EXAMPLES * examples + _CROWD * crowd + _USUAL * self._usual
        return 1 / (1 + math.exp(-drawn))


def read_background() -> list[str]:
    """Return the sentences of the background."""
    return files(__package__).joinpath("background.txt").read_text(encoding="utf-8").splitlines()
