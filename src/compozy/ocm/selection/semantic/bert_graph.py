"""MiniLM's weights as a graph of fused steps whose products are computed in eight bits.

The model's own file keeps eight-bit weights but multiplies them as floats, in some 300 small steps: twice the time
and four times the memory. Here the weights stay as they are, and what they are multiplied with is rounded to eight
bits too, each 128 numbers by a scale of their own. It knows nothing of texts or of onnxruntime.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from compozy.ocm.selection.semantic.onnx_format import Array, Node, Port, write_model

LAYERS, HEADS, WIDTH = 6, 12, 384
STATES, RESULT = "states", "result"
# The attributes of onnxruntime's MatMulNBits: weights in eight bits, and level 4 rounds the other side as well.
_BITS, _BLOCK, _LEVEL = 8, 128, 4
_MICROSOFT = "com.microsoft"
_EPSILON = 1e-12


def build_graph(tensors: Mapping[str, Array]) -> bytes:
    """Return the model that takes the summed embeddings of a text and gives the states of the last layer."""
    writer = _Writer(tensors)
    writer.norm("inner.embeddings", STATES, "layer0")
    for number in range(LAYERS):
        writer.layer(number, RESULT if number == LAYERS - 1 else f"layer{number + 1}")
    # One text at a time: no padding and no mask, and no text's vector depends on its neighbours'.
    shape = (1, "pieces", WIDTH)
    return write_model(writer.nodes, writer.constants, Port(STATES, "<f4", shape), Port(RESULT, "<f4", shape))


class _Writer:
    def __init__(self, tensors: Mapping[str, Array]) -> None:
        self.nodes: list[Node] = []
        self.constants: dict[str, Array] = {}
        self._tensors = tensors
        # The exporter numbered the weights in the order of their use: six in each layer.
        names = [name.removesuffix("_q") for name in tensors if name.startswith("val_") and name.endswith("_q")]
        self._weights = [(tensors[f"{name}_q"], tensors[f"{name}_scale"]) for name in names]

    def layer(self, number: int, gives: str) -> None:
        """Add attention and the two products after it, each with what came in added and normalised."""
        enters, inner = f"layer{number}", f"inner.encoder.layer.{number}"
        query, key, value, out, up, down = self._weights[6 * number : 6 * number + 6]
        self._product(enters, f"heads{number}", (query, key, value), ())
        heads = [f"{part}{number}" for part in ("query", "key", "value")]
        self.nodes.append(Node("Split", (f"heads{number}",), heads, {"axis": -1, "num_outputs": 3}))
        biases = [self._tensors[f"{inner}.attention.self.{part}.bias"] for part in ("query", "key", "value")]
        self.constants[f"heads{number}.bias"] = np.concatenate(biases)
        attention = (*heads, f"heads{number}.bias")
        self.nodes.append(
            Node("MultiHeadAttention", attention, (f"attention{number}",), {"num_heads": HEADS}, _MICROSOFT)
        )
        self._product(f"attention{number}", f"out{number}", (out,), (f"{inner}.attention.output.dense.bias",))
        self.nodes.append(Node("Add", (f"out{number}", enters), (f"sum{number}",)))
        self.norm(f"{inner}.attention.output", f"sum{number}", f"middle{number}")
        self._product(f"middle{number}", f"up{number}", (up,), (f"{inner}.intermediate.dense.bias",))
        self.nodes.append(Node("Gelu", (f"up{number}",), (f"gelu{number}",), {}, _MICROSOFT))
        self._product(f"gelu{number}", f"down{number}", (down,), (f"{inner}.output.dense.bias",))
        self.nodes.append(Node("Add", (f"down{number}", f"middle{number}"), (f"total{number}",)))
        self.norm(f"{inner}.output", f"total{number}", gives)

    def norm(self, place: str, takes: str, gives: str) -> None:
        """Add a normalisation."""
        names = [f"{place}.LayerNorm.{part}" for part in ("weight", "bias")]
        self.constants.update((name, self._tensors[name]) for name in names)
        self.nodes.append(Node("LayerNormalization", (takes, *names), (gives,), {"axis": -1, "epsilon": _EPSILON}))

    def _product(self, takes: str, gives: str, weights: Sequence[tuple[Array, Array]], bias: Sequence[str]) -> None:
        """Add one product with weights side by side."""
        joined = np.concatenate([weight for weight, _ in weights], axis=1)
        scales: NDArray[np.float32] = np.concatenate([scale.ravel() for _, scale in weights]).astype(np.float32)
        rows, columns = joined.shape
        # The operator wants columns as rows, in blocks, without a sign.
        shifted = (joined.astype(np.int16) + 128).astype(np.uint8)
        self.constants[f"{gives}.weight"] = shifted.T.reshape(columns, rows // _BLOCK, _BLOCK)
        self.constants[f"{gives}.scale"] = np.repeat(scales, rows // _BLOCK)
        self.constants.update((name, self._tensors[name]) for name in bias)
        settings = {"K": rows, "N": columns, "bits": _BITS, "block_size": _BLOCK, "accuracy_level": _LEVEL}
        # Two places are for zero points and an order of groups, which these weights do not have.
        names = (takes, f"{gives}.weight", f"{gives}.scale", *(("", "", *bias) if bias else ()))
        self.nodes.append(Node("MatMulNBits", names, (gives,), settings, _MICROSOFT))
