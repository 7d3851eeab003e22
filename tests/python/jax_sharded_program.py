"""Calls of partita.jax on whole arrays, checked by NumPy: the program of one of several processes.

python jax_sharded_program.py DEVICES PROCESSES PROCESS PORT
"""

import os
import re
import sys

devices, processes, process, port = map(int, sys.argv[1:])
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices} --xla_backend_optimization_level=0"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

import partita as pt
import partita.jax as pj

jax.config.update("jax_enable_x64", True)
if processes > 1:
    jax.distributed.initialize(f"127.0.0.1:{port}", processes, process)
n = len(jax.devices())
array = np.cos(np.arange(6 * n * 2 * n * 6)).reshape(6 * n, 2 * n, 6)
mesh = Mesh(np.array(jax.devices()), ("x",))
grid = Mesh(np.array(jax.devices()).reshape(-1, 2 - n % 2), ("x", "y"))
explicit = Mesh(np.array(jax.devices()), ("x",), axis_types=(AxisType.Explicit,))
rows, columns, whole = (PartitionSpec(*one) for one in (("x",), (None, "x"), ()))


def placed(values, spec, where=mesh):
    return jax.make_array_from_callback(values.shape, NamedSharding(where, spec), lambda index: values[index])


def constrained(x, spec):
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, spec))


def same(found, wanted, spec=None):
    for part in found.addressable_shards:
        np.testing.assert_allclose(part.data, np.asarray(wanted)[part.index], rtol=1e-9, atol=1e-9)
    assert spec is None or found.sharding.is_equivalent_to(NamedSharding(mesh, spec), found.ndim), found.sharding


def compiled(function, *operands):
    """The program, in which no operand is gathered and XLA moves nothing."""
    program = jax.jit(function).lower(*operands).compile()
    moves = re.findall("all-gather|all-to-all|all-reduce|collective-permute", program.as_text())
    assert not moves, moves
    return program


def redistribution():
    specs = [PartitionSpec(*one) for one in (("x",), ("x", "y"), (None, ("y", "x")), (None, None, "y"), ())]
    for before, after in zip(specs, specs[1:] + specs[:1]):
        x, to = placed(array, before, grid), NamedSharding(grid, after)
        found = compiled(lambda x, to=to: pj.redistribute(x, to), x)(x)
        same(found, array)
        assert found.sharding.is_equivalent_to(to, 3)
    same(pj.redistribute(placed(array, rows), columns), array, columns)


def transforms():
    for spec in (rows, columns, whole):
        x = placed(array, spec)
        for name in ("fft", "ifft", "rfft", "fftn", "ifftn", "rfftn"):
            same(compiled(getattr(pj, name), x)(x), getattr(np.fft, name)(array), spec)
        back = compiled(lambda x: (pj.irfftn(pj.rfftn(x)), pj.irfft(pj.rfft(x))), x)(x)
        same(back[0], array, spec)
        same(back[1], array, spec)
    x = placed(array, rows)
    moved = compiled(lambda x: pj.fftn(x, axes=(0, 1), norm="ortho", out_sharding=NamedSharding(mesh, columns)), x)(x)
    same(moved, np.fft.fftn(array, axes=(0, 1), norm="ortho"), columns)
    same(pj.fft(x, n=4), np.fft.fft(array, n=4))
    same(pj.irfftn(placed(array + 0j, rows), s=(n, 5), axes=(1, 2)), np.fft.irfftn(array, s=(n, 5), axes=(1, 2)))
    same(jax.jit(jax.vmap(pj.fftn))(x), np.fft.fftn(array, axes=(1, 2)))
    reversed_mesh = Mesh(np.array(jax.devices()[::-1]), ("x",))
    same(jax.jit(pj.fftn)(placed(array, rows, reversed_mesh)), np.fft.fftn(array))


def products():
    a, b = array[:, :, 0], array[:, :, 1]
    for of_a, of_b, spec in ((rows, rows, rows), (whole, columns, None), (columns, rows, whole)):
        x, y = placed(a, of_a), placed(b.T.copy(), of_b)
        same(compiled(pj.matmul, x, y)(x, y), a @ b.T, spec)
    x, y = placed(a, rows), placed(b, columns)
    found = compiled(lambda x, y: pj.matmul(x, y, transpose_a=True, out_sharding=NamedSharding(mesh, columns)), x, y)(x, y)
    same(found, a.T @ b, columns)
    bias = np.linspace(-1, 1, 6 * n)
    same(jax.jit(lambda x, y: pj.matmul(x, y, transpose_b=True, bias=bias, activation="relu"))(x, y), np.maximum(a @ b.T + bias[:, None], 0))


def sums_of_products():
    a, b, c = array[:, :, 0], array[:, :, 1], array[:, :, 2]
    for subscripts, *operands in (
        ("ij,kj->ik", a, b), ("ij,ik->jk", a, b), ("ij,ik->kj", a, b), ("ijk,jk->i", array, array[0]), ("ijk,kl->ijl", array, array[0, :6].T[:, :n]),
        ("ijk,ljk->li", array, array[: 2 * n]), ("ij,kj,kl->il", a, b, c), ("i,j->ij", a[:, 0], b[:, 1]), ("ii->i", a[: 2 * n] + a[: 2 * n].T),
        ("ij,ij->i", a, b), ("bij,bjk->bik", array, array.transpose(0, 2, 1)), ("...k,jk", array, array[0]), ("ij->", a),
    ):  # fmt: skip
        there = [placed(one, rows if one.shape[0] % n == 0 else whole) for one in operands]
        wanted = np.einsum(subscripts, *operands)
        same(pj.einsum(subscripts, *there), wanted)
        same(jax.jit(lambda *xs, text=subscripts: pj.einsum(text, *xs))(*there), wanted)
    x, y = placed(a, rows), placed(b, rows)
    for subscripts in ("ij,kj->ik", "ij,ik->jk", "ji,jk->ki"):
        same(compiled(lambda x, y, text=subscripts: pj.einsum(text, x, y), x, y)(x, y), np.einsum(subscripts, a, b))
    z = placed(array, rows)
    found = compiled(lambda z, y: pj.einsum("ijk,ijl->kl", z, y, out_sharding=NamedSharding(mesh, whole)), z, z)(z, z)
    same(found, np.einsum("ijk,ijl->kl", array, array), whole)
    same(pj.einsum("ij,kj->ik", x, y, out_sharding=columns), a @ b.T, columns)
    same(pj.einsum("ij,kj,kl->il", x, y, placed(c, rows), out_sharding=columns), a @ b.T @ c, columns)


def precision():
    """The CPU computes all in float32: only what is asked for differs."""
    x = placed(array[:, :, 0].astype(np.float32), rows)

    def asked(**given):
        return re.findall('compute = "([a-z0-9]*)"', jax.jit(lambda x: pj.matmul(x, x, transpose_b=True, **given)).lower(x).compile().as_text())

    assert asked() == ["tf32"] == asked(precision="tensorfloat32") == asked(precision=jax.lax.Precision.DEFAULT), asked()
    assert asked(precision="highest") == ["automatic"] == asked(precision=jax.lax.Precision.HIGHEST) == asked(precision="float32")
    assert asked(precision=("default", "highest")) == ["automatic"]
    with jax.default_matmul_precision("float32"):
        assert asked() == ["automatic"]
        assert asked(precision="default") == ["tf32"]
    double = placed(array[:, :, 0], rows)
    program = jax.jit(jax.grad(lambda x: jnp.sum(pj.matmul(x, x, transpose_b=True))))
    for one, wanted in ((x, "tf32"), (double, "automatic")):
        found = re.findall('compute = "([a-z0-9]*)"', program.lower(one).compile().as_text())
        assert set(found) == {wanted}, found


def ghost_cells():
    def wanted(values, where, spec, lower, upper, periodic):
        """Each device's part, extended, at its place in the result."""
        sharding = NamedSharding(where, spec)
        cuts = [values.shape[d] // extent for d, extent in enumerate(sharding.shard_shape(values.shape))]
        shape = tuple(extent + cut * (a + b) for extent, cut, a, b in zip(values.shape, cuts, lower, upper))
        modes = [("wrap" if one else "constant") for one in periodic]
        padded = values
        for d, mode in enumerate(modes):
            widths = [(0, 0)] * values.ndim
            widths[d] = (lower[d], upper[d])
            padded = np.pad(padded, widths, mode=mode)
        expected = np.full(shape, np.nan)
        for index in sharding.devices_indices_map(values.shape).values():
            starts = [part.start or 0 for part in index]
            lengths = [extent // cut + a + b for extent, cut, a, b in zip(values.shape, cuts, lower, upper)]
            numbers = [start * cut // extent for start, cut, extent in zip(starts, cuts, values.shape)]
            there = tuple(slice(k * length, (k + 1) * length) for k, length in zip(numbers, lengths))
            expected[there] = padded[tuple(slice(start, start + length) for start, length in zip(starts, lengths))]
        return expected

    for where, spec, lower, upper, periodic in (
        (mesh, rows, (1, 0, 0), (2, 0, 0), (False,) * 3),
        (mesh, rows, (2, 1, 0), (2, 1, 0), (True, True, False)),
        (mesh, columns, (0, 1, 1), (0, 2, 0), (False, True, False)),
        (grid, PartitionSpec("x", "y"), (1, 1, 0), (1, 1, 0), (True, False, False)),
        (grid, PartitionSpec(("y", "x")), (1, 0, 2), (7, 0, 0), (True, False, True)),
        (grid, PartitionSpec(None, "x"), (0, 1, 0), (0, 1, 0), (False, True, False)),
    ):
        x, expected = placed(array, spec, where), wanted(array, where, spec, lower, upper, periodic)
        given = {"lower": lower, "upper": upper, "periodic": periodic}
        found = pj.halo(x, **given)
        same(found, expected)
        assert found.sharding.is_equivalent_to(NamedSharding(where, spec), 3), found.sharding
        same(compiled(lambda x, given=given, to=NamedSharding(where, spec): pj.halo(x, **given, sharding=to), x)(x), expected)

    to, x = NamedSharding(mesh, rows), placed(array, rows)

    def smoothed(x):
        extended = pj.halo(x, lower=(1, 0, 0), periodic=(True, False, False), sharding=to)
        return jax.shard_map(lambda part: (part[:-2] + part[2:]) / 2, mesh=mesh, in_specs=rows, out_specs=rows)(extended)

    def plain(x):
        return (jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0)) / 2

    same(compiled(smoothed, x)(x), plain(array), rows)
    loss = [lambda x, f=f: jnp.sum(jnp.sin(f(x)) ** 2) for f in (smoothed, plain)]
    same(jax.jit(jax.grad(loss[0]))(x), jax.grad(loss[1])(array))
    tangent = placed(np.sin(array), rows)
    same(jax.jit(lambda x, t: jax.jvp(smoothed, (x,), (t,))[1])(x, tangent), plain(np.sin(array)))
    second = [jax.jit(lambda x, t, f=f: jax.jvp(jax.grad(f), (x,), (t,))[1]) for f in loss]
    same(second[0](x, tangent), second[1](array, np.sin(array)))
    same(jax.jit(jax.vmap(lambda x: pj.halo(x, lower=(1, 0), sharding=NamedSharding(mesh, rows))))(jnp.moveaxis(x, 2, 0)),
         np.stack([wanted(array[:, :, k], mesh, rows, (1, 0), (1, 0), (False,) * 2) for k in range(6)]))  # fmt: skip
    y = placed(array, rows, explicit)
    same(compiled(lambda x: pj.halo(x, lower=(1, 0, 0)), y)(y), wanted(array, mesh, rows, (1, 0, 0), (1, 0, 0), (False,) * 3), rows)


def derivatives():
    weights = np.sin(np.arange(array.size)).reshape(array.shape)

    def check(ours, plain, *operands):
        def loss(function):
            def of(*xs):
                found = function(*xs)
                return jnp.sum(jnp.abs(found + jnp.sin(jnp.arange(found.size)).reshape(found.shape)) ** 2)

            return of

        which = tuple(range(len(operands)))
        there = tuple(placed(one, rows) for one in operands)
        tangents = tuple(placed(np.sin(one), rows) for one in operands)
        for a, b in zip(jax.jit(jax.grad(loss(ours), which))(*there), jax.grad(loss(plain), which)(*operands)):
            same(a, b)
        wanted = jax.jvp(plain, operands, tuple(map(np.sin, operands)))[1]
        same(jax.jit(lambda xs, ts: jax.jvp(ours, xs, ts)[1])(there, tangents), wanted)

    check(pj.rfftn, jnp.fft.rfftn, array)
    check(lambda x: pj.irfftn(pj.fftn(x), s=(6 * n, 2 * n, 9)), lambda x: jnp.fft.irfftn(jnp.fft.fftn(x), s=(6 * n, 2 * n, 9)), array)
    to = NamedSharding(mesh, columns)
    check(lambda x: pj.redistribute(x, to) * weights, lambda x: x * weights, array)
    check(lambda x, y: pj.einsum("ijk,ij->k", x, y), lambda x, y: jnp.einsum("ijk,ij->k", x, y), array, array[:, :, 0])
    for options in ({}, {"transpose_a": True, "transpose_b": True}):
        a, b = array[:, :, 0], array[:, :, 1].T.copy()
        check(lambda x, y, given=options: pj.matmul(x, y, **given), lambda x, y, given=options: (y @ x).T if given else x @ y, a, b)
    same(jax.grad(lambda x: jnp.sum(pj.redistribute(x, to) ** 2))(placed(array, rows)), 2 * array)


def linear_algebra():
    m = 4 * n
    square, sides = array[:m, 0, :1] + np.cos(np.arange(m * m)).reshape(m, m) + 3 * np.eye(m), np.sin(np.arange(2.0 * m)).reshape(m, 2)
    positive = square @ square.T + np.eye(m)
    tall = np.sin(np.arange(m * 3.0)).reshape(m, 3) + np.eye(m)[:, :3]
    la, jla = pj.linalg, jnp.linalg

    def check(ours, plain, *operands):
        there = tuple(placed(one, rows) for one in operands)
        for one, wanted in zip(jax.tree.leaves(compiled(ours, *there)(*there)), jax.tree.leaves(plain(*operands))):
            same(one, wanted)

        def loss(function):
            def of(one):
                return jnp.sum(jnp.sin(one + 0.1) * jnp.cos(jnp.arange(one.size)).reshape(one.shape))

            return lambda *xs: sum(map(of, jax.tree.leaves(function(*xs))))

        which = tuple(range(len(operands)))
        for one, wanted in zip(jax.jit(jax.grad(loss(ours), which))(*there), jax.grad(loss(plain), which)(*operands)):
            same(one, wanted)

    check(la.solve, jla.solve, square, sides)
    check(lambda a, b: la.solve(a, b[:, 0], transpose_a=True), lambda a, b: jla.solve(a.T, b[:, 0]), square, sides)
    check(la.inv, jla.inv, square)
    check(lambda a: la.slogdet(a).logabsdet, lambda a: jla.slogdet(a)[1], square)
    check(la.cholesky, jla.cholesky, positive)
    check(lambda a, b: la.solve_triangular(a, b, lower=True), lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), square, sides)
    check(lambda a: la.qr(a).Q @ la.qr(a).R, lambda a: a, tall)
    check(lambda a: la.eigh(a).eigenvalues, lambda a: jla.eigh(a)[0], positive)
    check(lambda a: la.svd(a).S, lambda a: jla.svd(a, False)[1], tall)

    def polar(a):
        u, s, vh = jla.svd(a, full_matrices=False)
        return u @ vh, (vh.conj().T * s) @ vh

    for one in (square + np.diag(np.arange(1.0 * m)), tall):
        check(lambda a: tuple(la.polar(a)), polar, one)


def uneven_extents():
    """Within programs XLA pads parts to one size."""
    values = np.sin(np.arange((6 * n - 1) * (2 * n + 1) * 5)).reshape(6 * n - 1, 2 * n + 1, 5)

    def program(x):
        moved = pj.redistribute(pj.redistribute(constrained(x, rows), NamedSharding(mesh, columns)), NamedSharding(mesh, PartitionSpec(None, None, "x")))
        product = pj.matmul(constrained(x[:, :, 0], rows), x[:, :, 1], transpose_b=True, out_sharding=NamedSharding(mesh, columns))
        return [constrained(one, whole) for one in (moved, pj.fftn(constrained(x, columns)), pj.rfft(constrained(x, columns), axis=1), product)]

    found = jax.jit(program)(placed(values, whole))
    for one, wanted in zip(found, (values, np.fft.fftn(values), np.fft.rfft(values, axis=1), values[:, :, 0] @ values[:, :, 1].T)):
        same(one, wanted)


def shardings_in_types():
    x = placed(array, rows, explicit)
    same(compiled(pj.fftn, x)(x), np.fft.fftn(array), rows)
    same(compiled(lambda x: pj.redistribute(x, columns), x)(x), array, columns)
    same(compiled(lambda x: pj.matmul(x[:, :, 0], x[:, :, 1], transpose_b=True), x)(x), array[:, :, 0] @ array[:, :, 1].T, rows)
    gradient = jax.jit(jax.grad(lambda x: jnp.sum(jnp.abs(pj.rfftn(pj.redistribute(x, columns))) ** 2)))(x)
    same(gradient, jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfftn(x)) ** 2))(array), rows)


def order():
    """Calls that do not depend on each other, and calls in loops, are made in the same order for all devices."""

    def program(x):
        def step(carry, _):
            there = pj.redistribute(carry, NamedSharding(mesh, columns))
            return pj.redistribute(there, NamedSharding(mesh, rows)) + 1, None

        return [pj.fftn(jnp.sin(x * k)) for k in range(6)], jax.lax.scan(step, x, None, length=3)[0]

    compiled_program, x = jax.jit(program), placed(array, rows)
    for _ in range(20):
        spectra, moved = compiled_program(x)
    for k, one in enumerate(spectra):
        same(one, np.fft.fftn(np.sin(array * k)))
    same(moved, array + 3)


def without_jit():
    """What is on no particular device is placed on all: constants with which derivatives begin, NumPy's arrays."""
    square = array[:, :, 0]

    def loss(fftn):
        return lambda x: jnp.sum(jnp.real(fftn(x)) * jnp.arange(x.size).reshape(x.shape))

    same(jax.grad(loss(pj.fftn))(placed(square, rows)), jax.grad(loss(jnp.fft.fftn))(square))
    same(jax.jvp(pj.fftn, (placed(square, rows),), (jnp.ones_like(square),))[1], np.fft.fftn(np.ones_like(square)))
    same(pj.fftn(square), np.fft.fftn(square))
    few = square[:, :2]
    real = lambda fftn: lambda x: jnp.real(fftn(x))  # noqa: E731
    same(jax.jacrev(real(pj.fftn))(placed(few, rows)), jax.jacrev(real(jnp.fft.fftn))(few))
    if processes > 1:
        return  # batches of batches need jit
    same(jax.vmap(jax.vmap(pj.fft))(array), np.fft.fft(array))
    few = placed(square[:n, :2], rows)
    for ours, plain in (
        (lambda x: jnp.abs(pj.fftn(x)) ** 4, lambda x: jnp.abs(jnp.fft.fftn(x)) ** 4),
        (lambda x: pj.matmul(x, x.T), lambda x: x @ x.T),
    ):
        for derivative in (jax.jacrev, jax.jacfwd):
            same(derivative(derivative(ours))(few), derivative(derivative(plain))(square[:n, :2]))


def higher_derivatives():
    square, few = array[:, :, 0], array[:, :2, 0]
    spread = NamedSharding(mesh, columns)

    def twice(function):
        loss = lambda x: jnp.sum(jnp.abs(function(x)) ** 3)  # noqa: E731
        return jax.grad(lambda x: jnp.sum(jax.grad(loss)(x) ** 2))

    for ours, plain in (
        (lambda x: pj.redistribute(x, spread), lambda x: x),
        (pj.rfftn, jnp.fft.rfftn),
        (lambda x: pj.matmul(x, x, transpose_b=True), lambda x: x @ x.T),
        (lambda x: pj.linalg.solve(pj.matmul(x, x, transpose_a=True) + jnp.eye(x.shape[1]), x.T), lambda x: jnp.linalg.solve(x.T @ x + jnp.eye(x.shape[1]), x.T)),
    ):
        same(jax.jit(twice(ours))(placed(square, rows)), twice(plain)(square))
    squares = lambda fft: lambda x: jnp.sum(jnp.abs(fft(x, axis=0)) ** 4)  # noqa: E731
    same(jax.jit(jax.hessian(squares(pj.fft)))(placed(few, rows)), jax.hessian(squares(jnp.fft.fft))(few))
    kept = jax.checkpoint(lambda x: jnp.sin(pj.matmul(jnp.sin(x), x, transpose_b=True)))
    same(jax.jit(jax.grad(lambda x: jnp.sum(kept(x))))(placed(square, rows)), jax.grad(lambda x: jnp.sum(jnp.sin(jnp.sin(x) @ x.T)))(square))


def donated_memory():
    x = placed(array + 0j, rows)
    same(jax.jit(pj.fftn, donate_argnums=0)(x), np.fft.fftn(array))
    assert x.is_deleted()


def errors():
    x = placed(array[:, :, 0], rows)
    replicated = placed(array[:, :, 0], whole)
    refused = [
        (pt.ArgumentError, "cannot be multiplied", lambda: pj.matmul(x, x)),
        (pt.ArgumentError, "expected real numbers", lambda: pj.rfft(x + 0j)),
        (pt.ArgumentError, "expected different axes", lambda: pj.fftn(x, axes=(0, 0))),
        (pt.ArgumentError, "has no mesh", lambda: jax.jit(lambda x: pj.redistribute(x, columns))(x)),
        (pt.ArgumentError, "'jk' does not describe", lambda: pj.einsum("ij,jk", x, array)),
        (pt.ArgumentError, "'j' is of", lambda: pj.einsum("ij,jk->ik", x, x)),
        (pt.ArgumentError, "precision is 'low'", lambda: pj.matmul(x, x, transpose_b=True, precision="low")),
        (pt.ArgumentError, "pass sharding=", lambda: jax.jit(lambda x: pj.halo(x, lower=(1, 1)))(x)),
        (pt.ArgumentError, "has replicas", lambda: jax.grad(lambda x: jnp.sum(pj.halo(x, lower=(1, 1), sharding=NamedSharding(mesh, whole))))(replicated)),
        (pt.ArgumentError, "widths (1,) and (1,)", lambda: pj.halo(x, lower=(1,))),
        (pt.ArgumentError, "a width is negative", lambda: pj.halo(x, lower=(1, -1))),
        (pt.ArgumentError, "all must have the same size", lambda: jax.jit(lambda x: pj.halo(x[1:], lower=(1, 1), sharding=NamedSharding(mesh, rows)))(x)),
        (pt.UnsupportedError, "runs on 1 device", lambda: pj.fftn(jax.device_put(jnp.ones((4, 4)), jax.local_devices()[0]))),
    ]
    if devices > 1:
        part = jax.device_put(array, NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), rows))
        refused.append((pt.UnsupportedError, "runs on 2 devices", lambda: pj.fftn(part)))
        refused.append((pt.UnsupportedError, "one per device", lambda: pj.all_reduce(x)))
        refused.append((pt.UnsupportedError, "inside shard_map", lambda: jax.shard_map(pj.fftn, mesh=mesh, in_specs=rows, out_specs=rows)(x)))
    for error, text, call in refused:
        try:
            call()
        except error as found:
            assert text in str(found), found
        else:
            raise AssertionError(f"{text}: expected {error.__name__}")


with pj.Group(deadline=60) as group:
    assert group.size == n
    for check in (
        redistribution, transforms, products, sums_of_products, precision, ghost_cells, derivatives, linear_algebra, uneven_extents, shardings_in_types, order, without_jit, higher_derivatives, donated_memory, errors,
    ):  # fmt: skip
        check()
        print("passed:", check.__name__, flush=True)
