"""Thousands of calls of each public function leave memory and references where they were."""

import gc
import inspect
import os
import resource
import sys

import numpy as np
import pytest

import partita as pt
from partita import plans

FULL = os.environ.get("PARTITA_FULL") == "1"
CALLS = 10_000


def memory_in_use():
    """The most bytes so far, and those now."""
    with open("/proc/self/statm") as pages:
        now = int(pages.read().split()[1]) * resource.getpagesize()
    return np.array([1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, now])


def growth(call, calls):
    """Objects and bytes that `calls` calls leave; the bytes by both measures."""
    for _ in range(calls // 10):
        call()
    gc.collect()
    objects, memory = len(gc.get_objects()), memory_in_use()
    for _ in range(calls):
        call()
    gc.collect()
    return len(gc.get_objects()) - objects, memory_in_use() - memory


def leaves_nothing(call, calls):
    """So many calls leave fewer than 100 objects, and less than 8 MiB. A quarter of them is made first: those that leave less than
    a quarter of the objects, and an eighth of the memory by both measures, need no more."""
    if not FULL:
        objects, memory = growth(call, calls // 4)
        if objects < 25 and memory.max() < 1 << 20:
            return
    objects, memory = growth(call, calls)
    assert objects < 100 and memory[0] < 8 << 20, (objects, memory)


def refused(call):
    try:
        call()
    except (pt.Error, TypeError, ZeroDivisionError):
        return
    raise AssertionError("it is not refused")


def doubled_ones(context):
    return 2 * pt.ones(context, 4, "slab:0")


def sum_of(context, a):
    return a.sum()


def of_values(c, a):
    mesh = pt.Mesh({"x": c.size})
    doubled = pt.spmd(lambda part: 2 * part, mesh, in_specs=pt.P("x", None), out_specs=pt.P("x", None))

    ranks = pt.Ranks(1, kind="threads", device="cpu")

    def counted():
        with pt.traffic(c) as t:
            a.sum()
        return t.total

    return {
        "parse": lambda: hash(pt.parse("block-cyclic:2x2:3x3")) + hash(pt.Slab(0)),
        "Layout": lambda: (pt.Layout(pt.Slab(0), (5, 5), 3).owners((1, 1)), a.layout.indices(0, 0), hash(a.layout)),
        "pictures": lambda: (a._repr_svg_(), mesh._repr_svg_(), pt.P("x")._repr_svg_()),
        "mpi_description": pt.mpi_description,
        "current_mesh": pt.current_mesh,
        "spmd": lambda: doubled(a),
        "traffic": counted,
        "initialize": lambda: pt.initialize(device="cpu"),  # not closed
        "run": lambda: pt.run(2, lambda context: context.rank, device="cpu"),
        "Ranks": lambda: ranks(sum_of, ranks(doubled_ones)[0]),
        "trace.record": lambda: pt.trace.record(c, a.sum).ranks,
        "trace.chrome_trace": lambda: pt.trace.chrome_trace(),
    }


def of_contexts(c, a):
    mesh = pt.Mesh({"x": c.size})
    return {
        "Context.barrier": c.barrier,
        "Context.collect": c.collect,
        "Context.synchronize": c.synchronize,
        "Context.subgroup": lambda: c.subgroup([c.rank]),
        "Context.split": lambda: c.split(0).close(),
        "Context.along": lambda: c.along(mesh, "x"),
    }


def of_default(c):
    with pt.default(c, pt.Slab(0)):
        return pt.zeros(4)


def of_making(c, a):
    x, buffer, rows = np.ones((16, 16)), bytearray(8), pt.Slab(0)
    return {
        "from_local": lambda: pt.from_local(c, x, rows),
        "from_local with a shape": lambda: pt.from_local(c, x, rows, (16, 16)),
        "from_local of a buffer": lambda: pt.from_local(c, buffer, rows),
        "empty": lambda: pt.empty(c, (64, 64), rows).local,
        "zeros": lambda: pt.zeros(c, (16, 16), rows),
        "ones": lambda: pt.ones(c, (16, 16), rows),
        "linspace": lambda: pt.linspace(c, 0, 1, 16, distribution=rows),
        "normal": lambda: pt.normal(c, (16, 16), rows),
        "empty_like": lambda: pt.empty_like(a),
        "full_like": lambda: pt.full_like(a, 1),
        "ones_like": lambda: pt.ones_like(a),
        "zeros_like": lambda: pt.zeros_like(a),
        "default": lambda: of_default(c),
        "fft.fftfreq": lambda: pt.fft.fftfreq(c, 16, distribution=rows),
        "fft.rfftfreq": lambda: pt.fft.rfftfreq(c, 16, distribution=rows),
        "full": lambda: pt.full(c, (16, 16), rows, 2.0),
        "random": lambda: pt.random(c, (16, 16), rows),
        "arange": lambda: pt.arange(c, 16, distribution=rows),
        "eye": lambda: pt.eye(c, 16, distribution=rows),
        "from_function": lambda: pt.from_function(c, (4, 4), rows, lambda i, j: i + j),
        "scatter": lambda: pt.scatter(c, x, rows),
        "SymmetricArray": lambda: pt.SymmetricArray(c, (16,)).local,
        "what is refused": lambda: refused(lambda: pt.from_local(c, None, rows)),
    }


def of_arrays(c, a):
    row, columns = pt.full(c, (16,), pt.Replicated(), 1.0), pt.zeros(c, (16, 16), pt.parse("block-cyclic:1x1:4x4"))
    found = {
        "Array.astype": lambda: a.astype("float32"),
        "Array.at": lambda: a.at((1, 2)),
        "Array.copy": a.copy,
        "Array.fill": lambda: a.fill(1.0),
        "Array.gather": lambda: (a.gather(), a.gather(root=0)),
        "Array.indices": lambda: a.indices(0),
        "Array.redistribute": lambda: a.redistribute(pt.Slab(1)),
        "Array.to_string": lambda: (a.to_string(), str(a), repr(a)),
        "Array.transpose": lambda: a[1:5].T.local,
        "windows that are written": lambda: (a.__setitem__(slice(0, 3), 1.0), a.__setitem__(slice(0, 3), a[3:6])),
        "ufuncs": lambda: (a + columns) * 2,
        "ufuncs of two results": lambda: np.divmod(a, 3),
        "ufuncs in place": lambda: np.add(a, 1, out=a, where=a > 9),
        "ufuncs that broadcast": lambda: a + row,
        "ufuncs that are refused": lambda: refused(lambda: a + row.redistribute(pt.Slab(0)).astype("int8")[1:]),
        "reductions that are refused": lambda: refused(lambda: a.sum(5)),
        "redistribute": lambda: pt.redistribute(a, columns),
        "Redistribute": lambda: pt.Redistribute(a, columns).execute(),
    }
    for name in "sum prod min max mean any all".split():
        found[f"Array.{name}"] = lambda reduced=getattr(a, name): (reduced(), reduced(0))
    return found


def of_numpys(c, a):
    row, z, n, few = a[:1], a * 1j, np.add(a, 0), a.astype("int32")
    found = {
        "allclose": lambda: pt.allclose(a, a),
        "angle": lambda: pt.angle(z),
        "array_equal": lambda: pt.array_equal(a, a),
        "array_split": lambda: pt.array_split(a, 3),
        "broadcast_to": lambda: pt.broadcast_to(row, (4, 16)),
        "clip": lambda: pt.clip(a, 0, 1),
        "column_stack": lambda: pt.column_stack([a, a]),
        "concatenate": lambda: (pt.concatenate([a, a]), pt.concatenate([a, a], 1)),
        "dstack": lambda: pt.dstack([a, a]),
        "einsum": lambda: (pt.einsum("ij,jk->ik", a, a), pt.einsum("ii", a), pt.einsum("ij,jk,kl->il", a, a, a)),
        "einsum_path": lambda: pt.einsum_path("ij,jk,kl->il", a, a, a),
        "expand_dims": lambda: pt.expand_dims(a, 1),
        "hsplit": lambda: pt.hsplit(a, 2),
        "hstack": lambda: pt.hstack([a, a]),
        "imag": lambda: pt.imag(z),
        "indices": lambda: (a[3], a[3, 4], a[::-2, None], a[3].item() if not a[3].ndim else 0),
        "indices that are written": lambda: (n.__setitem__(3, a[4]), n.__setitem__(slice(None, None, 2), 1.0)),
        "inner": lambda: pt.inner(a[0], a[0]),
        "options of reductions": lambda: (pt.sum(a, 0, initial=1, where=a > 0), pt.max(a, initial=1), pt.mean(a, where=a > 0), pt.var(a, where=row > 0)),
        "kron": lambda: pt.kron(row[:, :4], row[:, :4]),
        "outer": lambda: pt.outer(a[0], a[0]),
        "products of integers": lambda: (few @ few, few @ row.T),
        "tensordot": lambda: pt.tensordot(a, a),
        "vecdot": lambda: pt.vecdot(a, a),
        "isclose": lambda: pt.isclose(a, a),
        "matrix_transpose": lambda: pt.matrix_transpose(a),
        "moveaxis": lambda: pt.moveaxis(a, 0, 1),
        "NumPy arrays": lambda: a + np.ones(16),
        "pad": lambda: (pt.pad(a, 1), pt.pad(a, 1, "edge"), pt.pad(a, 1, constant_values=(1, 2))),
        "permute_dims": lambda: pt.permute_dims(a, (1, 0)),
        "real": lambda: pt.real(z),
        "repeat": lambda: pt.repeat(a, 2, 0),
        "reshape": lambda: (pt.reshape(a, (8, 32)), pt.reshape(a, -1)),
        "roll": lambda: pt.roll(a, 1, 0),
        "split": lambda: pt.split(a, 2),
        "squeeze": lambda: pt.squeeze(row),
        "stack": lambda: pt.stack([a, a]),
        "swapaxes": lambda: pt.swapaxes(a, 0, 1),
        "tile": lambda: pt.tile(a, 2),
        "unstack": lambda: pt.unstack(row),
        "vsplit": lambda: pt.vsplit(a, 2),
        "vstack": lambda: pt.vstack([a, a]),
        "where": lambda: pt.where(a > 0, a, 0),
    }
    for name in "diagonal flip fliplr flipud nan_to_num ravel rot90 round tril triu".split():
        found[name] = lambda call=getattr(pt, name): call(a)
    for name in "all any argmax argmin average count_nonzero max mean min prod ptp std sum var".split():
        found[name] = lambda call=getattr(pt, name): (call(a), call(a, 0))
    for name in "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar".split():
        found[name] = lambda call=getattr(pt, name): (call(a), call(a, 0))
    return found


def of_analysis(c, a):
    integers, x = a.astype("int64"), np.ones((4, 3))
    found = {
        "balance": lambda: pt.balance(a),
        "bincount": lambda: pt.bincount(integers.ravel()),
        "digitize": lambda: pt.digitize(a, [0.0, 1.0]),
        "from_parts": lambda: pt.from_parts(c, x),
        "isin": lambda: pt.isin(a, a),
        "masks": lambda: a[a > 0],
        "searchsorted": lambda: pt.searchsorted(a.ravel(), a.ravel()),
        "take": lambda: (pt.take(a, [0, 1], 0), pt.take(a, 1, 0)),
        "put": lambda: pt.put(a.copy(), [0, 1], 1.0),
        "put_along_axis": lambda: pt.put_along_axis(a.copy(), pt.argsort(a), a, -1),
        "keys": lambda: a.copy().__setitem__(([0, 1], [1, 0]), [2.0, 3.0]),
        "take_along_axis": lambda: pt.take_along_axis(a, pt.argsort(a), -1),
        "topk": lambda: pt.topk(a, 3),
        "append": lambda: pt.append(a, a, 0),
        "cross": lambda: pt.cross(a[:, :3], a[:, :3]),
        "interp": lambda: pt.interp(a, [0.0, 1.0], [2.0, 3.0]),
    }
    for name in "corrcoef cov diag gradient trapezoid".split():
        found[name] = lambda call=getattr(pt, name): call(a)
    for name in "argsort argwhere count_nonzero cumprod cumsum diff flatnonzero histogram median nanmedian nonzero sort unique".split():
        found[name] = lambda call=getattr(pt, name): call(a)
    for name in ("cumulative_prod", "cumulative_sum"):
        found[name] = lambda call=getattr(pt, name): call(a, axis=0)
    for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
        found[name] = lambda call=getattr(pt, name): call(a)
    for name in ("intersect1d", "setdiff1d", "setxor1d", "union1d"):
        found[name] = lambda call=getattr(pt, name): call(a.ravel(), a.ravel())
    for name in ("nanpercentile", "nanquantile", "percentile", "quantile"):
        found[name] = lambda call=getattr(pt, name): call(a, 0.5)
    return found


def of_products(c, a):
    bias, out, planned = pt.full(c, (16,), pt.Replicated(), 1.0), pt.zeros(c, (16, 16), pt.Slab(1)), pt.Matmul(a, a)
    return {
        "matmul": lambda: (a @ a, pt.matmul(a, a, out=out)),
        "matmul with a bias": lambda: pt.matmul(a, a, bias=bias, epilogue="relu-bias"),
        "Matmul": lambda: pt.Matmul(a, a).execute(),
        "Matmul.execute": lambda: (planned.reset(a, a), planned.execute(), planned.explain()),
        "dot": lambda: pt.dot(a, a),
        "vdot": lambda: pt.vdot(a, a),
        "norm": lambda: (pt.norm(a), pt.norm(a, axis=0)),
    }


def of_linear_algebra(c, a):
    m, v, linalg = pt.eye(c, 16, distribution="slab:0"), pt.full(c, 16, pt.Slab(0), 1.0), pt.linalg
    planned, pair, factor = linalg.LU(m), linalg.lu_factor(m), linalg.cho_factor(m)
    return {
        "linalg.solve": lambda: (linalg.solve(m, v), linalg.solve(m, v, out=v)),
        "linalg.solve_refined": lambda: linalg.solve_refined(m, v),
        "linalg.condition": lambda: linalg.condition(m),
        "linalg.rank_k_update": lambda: linalg.rank_k_update(m, c=m.copy()),
        "linalg.solve_triangular": lambda: linalg.solve_triangular(m, v),
        "linalg.lu_factor": lambda: linalg.lu_factor(m),
        "linalg.lu_solve": lambda: (linalg.lu_solve(pair, v), linalg.lu_solve((pair[0].copy(), pair[1]), v)),
        "linalg.cho_factor": lambda: linalg.cho_factor(m),
        "linalg.cho_solve": lambda: linalg.cho_solve(factor, v),
        "linalg.cholesky": lambda: linalg.cholesky(m),
        "linalg.qr": lambda: linalg.qr(m),
        "linalg.inv": lambda: linalg.inv(m),
        "linalg.det": lambda: linalg.det(m),
        "linalg.slogdet": lambda: linalg.slogdet(m),
        "linalg.lstsq": lambda: linalg.lstsq(m, v),
        "linalg.eigh": lambda: (linalg.eigh(m, base=8), linalg.eigh(m, "U", subset_by_index=(2, 4))),
        "linalg.eig": lambda: linalg.eig(m),
        "linalg.eigvals": lambda: linalg.eigvals(m),
        "linalg.eigvalsh": lambda: linalg.eigvalsh(m),
        "linalg.svd": lambda: linalg.svd(m),
        "linalg.svdvals": lambda: linalg.svdvals(m),
        "linalg.polar": lambda: linalg.polar(m),
        "linalg.pinv": lambda: linalg.pinv(m),
        "linalg.cond": lambda: (linalg.cond(m), linalg.cond(m, 1)),
        "linalg.matrix_rank": lambda: linalg.matrix_rank(m),
        "linalg.multi_dot": lambda: linalg.multi_dot([m, m, v]),
        "linalg.matrix_power": lambda: linalg.matrix_power(m, 3),
        "linalg.norm": lambda: (linalg.norm(m, 1), linalg.norm(m, 3, 0), linalg.norm(m, "nuc")),
        "linalg.vector_norm": lambda: linalg.vector_norm(m),
        "linalg.matrix_norm": lambda: linalg.matrix_norm(m),
        "LU.solve": lambda: (planned.factorize(m), planned.solve(v), planned.explain()),
        "singular matrices": lambda: refused(lambda: linalg.inv(a)),
    }


def of_transforms(c, a):
    z, half, few = a.astype("complex128"), pt.fft.rfftn(a), pt.zeros(c, (2, 2), pt.Slab(0))
    planned = pt.fft.FFT(z)
    found = {
        "fft.FFT": lambda: pt.fft.FFT(z).execute(),
        "fft.FFT.execute": lambda: (planned.execute(), planned.inverse()),
        "spectral.solve_poisson": lambda: pt.spectral.solve_poisson(a),
        "spectral.gradient": lambda: pt.spectral.gradient(a),
        "spectral.convolve": lambda: pt.spectral.convolve(a, a),
        "spectral.multiply": lambda: pt.spectral.multiply(few, lambda k: 1.0),
        "spectral.multiply that fails": lambda: refused(lambda: pt.spectral.multiply(few, lambda k: 1 / 0)),
        "spectral.resize": lambda: pt.spectral.resize(z, (16, 16), (8, 8)),
    }
    for name in set(pt.fft.__all__) - {"FFT", "fftfreq", "rfftfreq"}:
        operand = half if name.startswith("irfft") else a if name.startswith(("rfft", "d", "id", "ihfft")) else z
        found[f"fft.{name}"] = lambda call=getattr(pt.fft, name), of=operand: call(of)
    return found


def of_memory(c, a):
    x, y, halo = np.ones(100), np.ones(100), pt.Halo(a, (1, 1), (1, 1))
    extended = halo.execute(a)
    return {
        "all_reduce": lambda: (pt.all_reduce(c, x, x), pt.all_reduce(c, x)),
        "all_gather": lambda: pt.all_gather(c, x),
        "all_to_all": lambda: pt.all_to_all(c, x),
        "reduce_scatter": lambda: pt.reduce_scatter(c, x),
        "broadcast": lambda: pt.broadcast(c, x),
        "gather": lambda: pt.gather(c, x),
        "scatter_from": lambda: pt.scatter_from(c, x, y),
        "reduce": lambda: pt.reduce(c, x),
        "scan": lambda: pt.scan(c, x),
        "send": lambda: (pt.send(c, x, c.rank), pt.receive(c, y, c.rank)),
        "receive": lambda: pt.send_receive(c, x, c.rank, y, c.rank),
        "send_receive": lambda: pt.send_receive(c, x, c.rank, y, c.rank),
        "collectives that are refused": lambda: refused(lambda: pt.all_reduce(c, x, reduction="mean")),
        "Halo": lambda: pt.Halo(a, (1, 1), (1, 1)).execute(a),
        "Halo.execute": lambda: (halo.refresh(extended), halo.accumulate(extended), halo.start(a, extended), halo.finish()),
    }


def of_files(c, a):
    folder = f"flat-{os.getpid()}"
    os.mkdir(folder)
    npy, hdf5 = f"{folder}/a.npy", f"{folder}/a.h5"
    pt.io.write_npy(npy, a)
    pt.io.write_hdf5(hdf5, "a", a, attributes={"k": 1})
    return {
        "io.read_npy": lambda: pt.io.read_npy(c, npy, pt.Slab(0)),
        "io.write_npy": lambda: pt.io.write_npy(npy, a),
        "io.inspect_npy": lambda: pt.io.inspect_npy(npy),
        "io.read_hdf5": lambda: pt.io.read_hdf5(c, hdf5, "a", pt.Slab(0)),
        "io.write_hdf5": lambda: pt.io.write_hdf5(f"{folder}/b.h5", "a", a, truncate=True),
        "io.inspect_hdf5": lambda: pt.io.inspect_hdf5(hdf5, "a"),
        "io.list_hdf5": lambda: pt.io.list_hdf5(hdf5),
        "io.read_hdf5_attributes": lambda: pt.io.read_hdf5_attributes(hdf5, "a"),
        "io.write_hdf5_attributes": lambda: pt.io.write_hdf5_attributes(c, hdf5, "a", {"k": 2}),
        "files that are not there": lambda: refused(lambda: pt.io.read_npy(c, "none", pt.Slab(0))),
    }


def of_plans(c, a):
    of, z, topology = a.operand, plans.Operand(a.layout, "complex128"), pt.Topology(1)
    moving = plans.plan_redistribute(of, of, topology)
    return {
        "plans.plan_redistribute": lambda: plans.plan_redistribute(of, of, topology).explain(),
        "plans.plan_matmul": lambda: plans.plan_matmul(of, of, topology).traffic(0),
        "plans.plan_fft": lambda: plans.plan_fft(z, topology).plan(0),
        "plans.plan_factorization": lambda: plans.plan_factorization(of, topology).traffic(0),
        "plans.plan_solve": lambda: plans.plan_solve(of, of, topology).traffic(0),
        "plans.explain_redistribute": lambda: plans.explain_redistribute(a.layout, "slab:1"),
        "verified": moving.verify,
        "priced": lambda: (moving.simulate("laptop"), moving.timeline("laptop")),
    }


SUBJECTS = [of_values, of_contexts, of_making, of_arrays, of_numpys, of_analysis, of_products, of_linear_algebra, of_transforms, of_memory, of_files, of_plans]
#: Of these, some take milliseconds each.
SLOW = {"Ranks", "initialize", "run", "spectral.multiply", "spectral.multiply that fails", "plans.plan_matmul", "pictures"}


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda one: one.__name__)
def test_memory_is_flat(subject, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    context = pt.initialize(device="cpu")
    a = pt.from_local(context, np.ones((16, 16)), pt.Slab(0))
    calls = subject(context, a)
    before = sys.getrefcount(a), sys.getrefcount(a.local)
    for name, call in calls.items():
        slow = name in SLOW or name.startswith("io.")
        try:
            leaves_nothing(call, (CALLS if FULL else CALLS // 10) // (10 if slow else 1))
        except AssertionError as error:
            raise AssertionError(name) from error
    del call
    context.collect()
    assert (sys.getrefcount(a), sys.getrefcount(a.local)) == before


def test_every_function_is_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    context = pt.initialize(device="cpu")
    a = pt.from_local(context, np.ones((16, 16)), pt.Slab(0))
    called = {name for subject in SUBJECTS for name in subject(context, a)}
    public = {name for name in pt.__all__ if inspect.isfunction(getattr(pt, name))}
    for module in (pt.fft, pt.io, pt.linalg, pt.spectral, plans, pt.trace):
        public |= {f"{module.__name__.rpartition('.')[2]}.{name}" for name in module.__all__ if inspect.isfunction(getattr(module, name))}
    for kind, others in ((pt.Array, set()), (pt.Context, {"close", "fail"})):
        public |= {f"{kind.__name__}.{name}" for name, one in vars(kind).items() if inspect.isfunction(one) and name[0] != "_" and name not in others}
    assert sorted(public - called) == []
