#!/usr/bin/env python3
"""Small matrices in .npy files without NumPy: makes them, and checks a result against a product by hand.

matrices.py make FILE DESCR ROWSxCOLUMNS FORTRAN_ORDER SEED     whole numbers in [-4, 4]; ROWS alone: a vector
matrices.py check FILE EXPRESSION [TOLERANCE]                   of the functions below
"""

import ast
import math
import random
import struct
import sys

FORMATS = {"<f8": "d", "<f4": "f", "<c16": "dd", "<c8": "ff"}


def load(path):
    """A matrix as a list of rows, a vector as a list."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10 : 10 + length].decode())
    kind, shape = FORMATS[header["descr"]], header["shape"]
    flat = struct.unpack("<%d%s" % (math.prod(shape) * len(kind), kind[0]), data[10 + length :])
    if len(kind) == 2:
        flat = [complex(*flat[i : i + 2]) for i in range(0, len(flat), 2)]
    if len(shape) < 2:  # a scalar as a list of one
        return list(flat)
    rows, columns = shape
    down, across = (1, rows) if header["fortran_order"] else (columns, 1)
    return [[flat[i * down + j * across] for j in range(columns)] for i in range(rows)]


def make(path, descr, shape, fortran, seed):
    extents = tuple(int(n) for n in shape.split("x"))
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %r, }" % (descr, fortran, extents)
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    random.seed(int(seed))
    kind = FORMATS[descr]
    values = [random.randint(-4, 4) for _ in range(math.prod(extents) * len(kind))]
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%d%s" % (len(values), kind[0]), *values))


def transposed(x):
    return [list(column) for column in zip(*x)]


def conjugated(x):
    return [[v.conjugate() for v in row] for row in x]


def product(a, b):
    columns = transposed(b)
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def scaled(factor, x):
    return [[factor * v for v in row] for row in x]


def added(a, b):
    return [[x + y for x, y in zip(*rows)] for rows in zip(a, b)]


def with_bias(x, bias):
    return [[v + b for v in row] for row, b in zip(x, bias)]


def gelu(x):
    def value(v):
        return v / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))

    return [[value(v) for v in row] for row in x]


def row_sums(x):
    return [sum(row) for row in x]


def check(path, expression, tolerance="1e-5"):
    got, wanted = load(path), eval(expression)
    if not isinstance(wanted[0], list):
        got, wanted = [got], [wanted]
    assert [len(row) for row in got] == [len(row) for row in wanted], "%s has another shape" % path
    for i, rows in enumerate(zip(got, wanted)):
        for j, (x, y) in enumerate(zip(*rows)):
            assert abs(x - y) <= float(tolerance) * (1 + abs(y)), "%s: %r, not %r at %d, %d" % (path, x, y, i, j)


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
