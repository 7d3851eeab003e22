"""What several tests use."""

import numpy as np

import partita as pt


def rules(ranks):
    """Distributions of two dimensions of all kinds, uneven and with empty parts."""
    two = 2 if ranks % 2 == 0 else 1
    mesh = pt.Mesh({"x": two, "y": ranks // two})
    return [
        pt.Slab(0),
        pt.Slab(1),
        pt.BlockCyclic((two, ranks // two), (2, 3)),
        pt.BlockCyclic((1, ranks), (4, 1)),
        pt.BlockNonCyclic((ranks, 1)),
        pt.Replicated(),
        pt.Partitioned(mesh, pt.P("y", None)),
        pt.Partitioned(mesh, pt.P(None, ("x", "y"))),
    ]


def whole(shape, dtype=np.float64):
    """Numbers that differ."""
    return (np.arange(int(np.prod(shape))).reshape(shape) + 1).astype(dtype)


def numbers(shape, dtype="float64", seed=0):
    """Normal ones, the same on all ranks."""
    generator = np.random.default_rng(seed)
    values = generator.standard_normal(shape) + 1j * generator.standard_normal(shape)
    return (values if np.dtype(dtype).kind == "c" else values.real).astype(dtype)


def part(array, layout, rank):
    """What a rank has of it, by NumPy."""
    return array[np.ix_(*(layout.indices(axis, rank) for axis in range(array.ndim)))]


def spread(ctx, array, rule):
    """`array`, which all ranks have, distributed, each part a copy."""
    layout = pt.Layout(rule, array.shape, ctx.size)
    return pt.from_local(ctx, np.array(part(array, layout, ctx.rank), order="C"), rule, array.shape)
