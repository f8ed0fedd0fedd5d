"""A detector of bright squares, written as an ONNX file byte by byte: nothing is
downloaded, and no package is needed. An ONNX file is a protobuf message; the numbers
are those of the fields in its schema."""

import struct

GRID = 4
SIZE = 64
CELL = SIZE // GRID


def _varint(n):
    out = b""
    while n > 0x7F:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def _field(number, value):
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    value = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _floats(name, dims, values):
    return b"".join(_field(1, d) for d in dims) + _field(2, 1) + _field(8, name) + _field(9, struct.pack(f"<{len(values)}f", *values))


def _longs(name, values):
    return _field(1, len(values)) + _field(2, 7) + _field(8, name) + _field(9, struct.pack(f"<{len(values)}q", *values))


def _ints(name, values):
    return _field(1, name) + b"".join(_field(8, v) for v in values) + _field(20, 7)


def _node(operation, inputs, output, *attributes):
    return b"".join(_field(1, i) for i in inputs) + _field(2, output) + _field(4, operation) + b"".join(_field(5, a) for a in attributes)


def _value(name, dims):
    shape = b"".join(_field(1, _field(1, d)) for d in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, 1) + _field(2, shape)))


def model(layout):
    """A model whose cells are boxes with their brightness as score, in the layout "v5"
    or "v8"."""
    columns = 6 if layout == "v5" else 5
    rows = GRID * GRID
    score = columns - 2 if layout == "v5" else columns - 1
    weights = [0.0] * (columns * 3)
    weights[score * 3 : score * 3 + 3] = [1 / 3] * 3
    where = []
    for row in range(rows):
        y, x = divmod(row, GRID)
        box = [(x + 0.5) * CELL, (y + 0.5) * CELL, CELL, CELL] + [0.0] * (columns - 4)
        if layout == "v5":
            box[5] = 1.0  # objectness is the brightness, and the one class is sure
        where.append(box)
    flat = [v for box in where for v in box] if layout == "v5" else [where[r][c] for c in range(columns) for r in range(rows)]
    dims = [1, rows, columns] if layout == "v5" else [1, columns, rows]
    nodes = [
        _node("AveragePool", ["images"], "cells", _ints("kernel_shape", [CELL, CELL]), _ints("strides", [CELL, CELL])),
        _node("Conv", ["cells", "weights"], "scores", _ints("kernel_shape", [1, 1])),
        _node("Reshape", ["scores", "shape"], "columns"),
    ]
    last = "columns"
    if layout == "v5":
        nodes.append(_node("Transpose", ["columns"], "rows", _ints("perm", [0, 2, 1])))
        last = "rows"
    nodes.append(_node("Add", [last, "where"], "output0"))
    graph = b"".join(_field(1, n) for n in nodes) + _field(2, "bright squares")
    graph += _field(5, _floats("weights", [columns, 3, 1, 1], weights))
    graph += _field(5, _longs("shape", [1, columns, rows]))
    graph += _field(5, _floats("where", dims, flat))
    graph += _field(11, _value("images", [1, 3, SIZE, SIZE])) + _field(12, _value("output0", dims))
    return _field(1, 7) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 12))
