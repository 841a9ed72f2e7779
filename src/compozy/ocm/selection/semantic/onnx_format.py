"""ONNX files as far as one model needs them: the tensors of a file are read, and a graph of nodes is written.

The format is protobuf; the package `onnx` would be 20 MB more for these few fields. It knows no model, and trusts its
input: whoever reads a file has compared its digest.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_TYPES: dict[int, str] = {1: "<f4", 2: "|u1", 3: "|i1", 6: "<i4", 7: "<i8", 9: "|b1"}
_NUMBERS = {np.dtype(name): number for number, name in _TYPES.items()}
_FLOAT_ATTRIBUTE, _INT_ATTRIBUTE = 1, 2
_IR_VERSION = 8
_OPSETS = {"": 18, "com.microsoft": 1}


class Node(NamedTuple):
    """One step: an operator, the names of what it takes and gives, and its settings."""

    operator: str
    takes: Sequence[str]
    gives: Sequence[str]
    settings: Mapping[str, int | float] = {}
    domain: str = ""


class Port(NamedTuple):
    """What goes into a graph or comes out; a size may be a name, where it differs from call to call."""

    name: str
    dtype: str
    shape: Sequence[int | str]


def read_tensors(file: bytes) -> dict[str, Array]:
    """Return the constant tensors of a model by name, in the order of the file; they share its memory."""
    found = {}
    for number, graph in _fields(memoryview(file)):
        if number == 7 and isinstance(graph, memoryview):
            for kind, tensor in _fields(graph):
                if kind == 5 and isinstance(tensor, memoryview):
                    name, array = _read_tensor(tensor)
                    found[name] = array
    return found


def write_model(nodes: Sequence[Node], constants: Mapping[str, Array], takes: Port, gives: Port) -> bytes:
    """Return a model file of nodes, in the order in which they are computed."""
    graph = [
        *(_bytes(1, _node(node)) for node in nodes),
        _bytes(2, b"graph"),
        *(_bytes(5, _tensor(name, array)) for name, array in constants.items()),
        _bytes(11, _port(takes)),
        _bytes(12, _port(gives)),
    ]
    opsets = [_bytes(8, _bytes(1, domain.encode()) + _int(2, version)) for domain, version in _OPSETS.items()]
    return b"".join((_int(1, _IR_VERSION), _bytes(7, b"".join(graph)), *opsets))


def _read_tensor(data: memoryview) -> tuple[str, Array]:
    shape: list[int] = []
    name, kind, raw = "", 0, memoryview(b"")
    for number, value in _fields(data):
        if number == 1 and isinstance(value, memoryview):
            place = 0
            while place < len(value):
                size, place = _varint(value, place)
                shape.append(size)
        elif number == 1 and isinstance(value, int):
            shape.append(value)
        elif number == 2 and isinstance(value, int):
            kind = value
        elif number == 8 and isinstance(value, memoryview):
            name = bytes(value).decode()
        elif number == 9 and isinstance(value, memoryview):
            raw = value
    return name, np.frombuffer(raw, dtype=_TYPES[kind]).reshape(shape)


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        if key & 7 == _VARINT:
            value, place = _varint(data, place)
            yield key >> 3, value
            continue
        if key & 7 == _BYTES:
            size, place = _varint(data, place)
        else:
            size = {_FIXED64: 8, _FIXED32: 4}[key & 7]
        yield key >> 3, data[place : place + size]
        place += size


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
        shift += 7


def _node(node: Node) -> bytes:
    parts = [_bytes(1, name.encode()) for name in node.takes]
    parts.extend(_bytes(2, name.encode()) for name in node.gives)
    parts.append(_bytes(4, node.operator.encode()))
    parts.extend(_bytes(5, _setting(name, value)) for name, value in node.settings.items())
    parts.append(_bytes(7, node.domain.encode()))
    return b"".join(parts)


def _setting(name: str, value: float) -> bytes:
    if isinstance(value, int):
        told = _int(3, value) + _int(20, _INT_ATTRIBUTE)
    else:
        told = _encode(2 << 3 | _FIXED32) + struct.pack("<f", value) + _int(20, _FLOAT_ATTRIBUTE)
    return _bytes(1, name.encode()) + told


def _tensor(name: str, array: Array) -> bytes:
    shape = b"".join(_int(1, size) for size in array.shape)
    return shape + _int(2, _NUMBERS[array.dtype]) + _bytes(8, name.encode()) + _bytes(9, array.tobytes())


def _port(port: Port) -> bytes:
    sizes = (_int(1, size) if isinstance(size, int) else _bytes(2, size.encode()) for size in port.shape)
    shape = b"".join(_bytes(1, size) for size in sizes)
    kind = _int(1, _NUMBERS[np.dtype(port.dtype)]) + _bytes(2, shape)
    return _bytes(1, port.name.encode()) + _bytes(2, _bytes(1, kind))


def _int(number: int, value: int) -> bytes:
    # A negative number takes ten bytes, as 64 bits without a sign.
    return _encode(number << 3 | _VARINT) + _encode(value & (2**64 - 1))


def _bytes(number: int, data: bytes) -> bytes:
    return _encode(number << 3 | _BYTES) + _encode(len(data)) + data


def _encode(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
