"""Calls on DTensors, compared with PyTorch's on the whole array. Ranks are processes, as torch.distributed's are, or there is one."""

import itertools
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import PROCESSES, RANKS

import partita as pt

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
distributed = pytest.importorskip("torch.distributed.tensor")
pytestmark = pytest.mark.skipif(RANKS > 1 and not PROCESSES, reason="torch.distributed has one rank a process")

from torch.distributed.device_mesh import init_device_mesh  # noqa: E402
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor  # noqa: E402

import partita.torch as ptt  # noqa: E402

SHAPE = (7, 5, 6)


@pytest.fixture
def registered():
    ptt.register()
    yield
    ptt.unregister()


def meshes():
    """Of one axis, and of two."""
    two = 2 if RANKS % 2 == 0 else 1
    return init_device_mesh("cpu", (RANKS,)), init_device_mesh("cpu", (two, RANKS // two), mesh_dim_names=("dp", "tp"))


def numbers(shape, dtype=torch.float64, seed=0):
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def spread(whole, mesh, placements):
    return distribute_tensor(whole, mesh, placements, src_data_rank=None).requires_grad_(whole.is_floating_point() or whole.is_complex())


def placements_of(mesh, dimensions=3):
    kinds = [Replicate(), *map(Shard, range(dimensions))]
    return [list(one) for one in itertools.product(*[kinds] * mesh.ndim)]


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


def compared(call, theirs, whole, x):
    """The values, and the gradients of a loss that all numbers are in."""
    found, given = call(x), whole.clone().requires_grad_()
    expected = theirs(given)
    close(found.full_tensor(), expected)
    weights = numbers(expected.shape, seed=1)
    loss = lambda y: (torch.view_as_real(y).sin().sum(-1) * weights).sum() if y.is_complex() else (y.sin() * weights).sum()  # noqa: E731
    loss(found.full_tensor()).backward()
    loss(expected).backward()
    close(x.grad.full_tensor(), given.grad)
    return found


# --- redistribution


def test_redistribution_between_any_placements(ctx, group):
    whole = numbers(SHAPE)
    for mesh in meshes():
        all_ = placements_of(mesh)
        for number, source in enumerate(all_):
            for to in all_[number % 3 :: 3]:
                found = compared(lambda x: ptt.redistribute(x, to), lambda x: x, whole, spread(whole, mesh, source))
                assert list(found.placements) == to and found.shape == whole.shape
                assert found.to_local().shape == spread(whole, mesh, to).to_local().shape


def contributions(whole, mesh, placements):
    """A DTensor whose ranks have shares of the whole along the partial axes."""
    complete = spread(whole, mesh, [Replicate() if isinstance(one, Partial) else one for one in placements])
    index = sum(place for place, one in zip(mesh.get_coordinate(), placements) if isinstance(one, Partial))
    ranks = [size for size, one in zip(mesh.shape, placements) if isinstance(one, Partial)]
    share = complete.detach().to_local() * (2 * (index + 1) / (sum(ranks) - len(ranks) + 2) / ranks[0] if len(ranks) == 1 else 1)
    return DTensor.from_local(share, mesh, placements, run_check=False, shape=whole.shape, stride=whole.stride())


def test_contributions_are_reduced(ctx, group):
    whole = numbers(SHAPE)
    flat, grid = meshes()
    for mesh, source in ((flat, [Partial()]), (grid, [Partial(), Shard(1)]), (grid, [Shard(0), Partial()])):
        x = contributions(whole, mesh, source)
        for to in placements_of(mesh):
            close(ptt.redistribute(x, to).full_tensor(), x.full_tensor())
    x = DTensor.from_local(whole * (1 + ctx.rank), flat, [Partial("max")], run_check=False)
    close(ptt.redistribute(x, [Shard(0)]).full_tensor(), torch.maximum(whole, whole * RANKS))
    x = DTensor.from_local(whole * (1 + ctx.rank), flat, [Partial("avg")], run_check=False)
    close(ptt.redistribute(x, [Shard(2)]).full_tensor(), whole * (1 + RANKS) / 2)


def test_numbers_and_nothing(ctx, group):
    flat, _ = meshes()
    one = DTensor.from_local(torch.tensor(1.0 + ctx.rank), flat, [Partial()], run_check=False)
    close(ptt.redistribute(one, [Replicate()]).to_local(), torch.tensor(RANKS * (RANKS + 1) / 2))
    nothing = spread(numbers((0, 3)), flat, [Shard(0)])
    assert ptt.redistribute(nothing, [Shard(1)]).full_tensor().shape == (0, 3)


def test_replicas_of_parts_that_two_axes_cut_unevenly(ctx, group):
    """DTensor cuts 7 into 4 and 3, and then 3 into 2 and 1: what no spec of a mesh describes."""
    from partita.torch._placements import layout_on

    names = ("a", "b", "c")
    layout = layout_on("test", names[:2], (2, 2), (Shard(0), Shard(0)), (7,))
    assert [layout.local_shape(rank) for rank in range(4)] == [(2,), (2,), (2,), (1,)]
    layout = layout_on("test", names[:2], (2, 3), (Shard(0), Shard(0)), (9,))
    assert [layout.local_shape(rank) for rank in range(6)] == [(2,), (2,), (1,), (2,), (2,), (0,)]
    for extents in ((2, 3, 2), (1, 2, 3, 2)):
        placed = (*[Shard(0)] * (len(extents) - 1), Replicate())
        with pytest.raises(pt.UnsupportedError, match="cut unevenly by several axes"):
            layout_on("test", (*names, "d")[: len(extents)], extents, placed, (9,))


def test_results_may_be_contributions(ctx, group):
    whole = numbers(SHAPE)
    flat, grid = meshes()
    for mesh, to in ((flat, [Partial()]), (grid, [Shard(1), Partial()])):
        compared(lambda x: ptt.redistribute(x, to), lambda x: x, whole, spread(whole, mesh, [Shard(0)] * mesh.ndim))


def test_gradients_of_contributions(ctx, group):
    whole = numbers(SHAPE)
    flat, _ = meshes()
    share = (whole * (ctx.rank + 1)).requires_grad_()
    x = DTensor.from_local(share, flat, [Partial()], run_check=False)
    ptt.redistribute(x, [Shard(1)]).full_tensor().square().sum().backward()
    close(share.grad, 2 * whole * RANKS * (RANKS + 1) / 2)


def test_operands_that_pytorch_still_gathers(ctx, group):
    """Its collectives give tensors that wait when they are read, in the backward pass too."""
    whole = numbers(SHAPE)
    flat, _ = meshes()
    x = spread(whole, flat, [Shard(0)])
    gathered = (x * 2).redistribute(flat, [Replicate()], async_op=True)
    assert RANKS == 1 or type(gathered.to_local()).__name__ == "AsyncCollectiveTensor"
    y = ptt.redistribute(gathered, [Shard(1)]).redistribute(flat, [Replicate()], async_op=True)
    ptt.redistribute(y, [Shard(2)]).full_tensor().square().sum().backward()
    close(x.grad.full_tensor(), 8 * whole)


# --- Fourier transforms

KINDS = [
    ("fftn", torch.complex128, {}),
    ("ifftn", torch.complex128, {"dim": (0, 2), "norm": "ortho"}),
    ("fftn", torch.float64, {"s": (4, 9), "dim": (0, 1)}),
    ("rfftn", torch.float64, {"norm": "forward"}),
    ("rfftn", torch.float64, {"dim": (1, 0)}),
    ("irfftn", torch.complex128, {"s": (7, 5, 11), "dim": (0, 1, 2)}),
    ("fft", torch.complex128, {"dim": 0}),
    ("ifft", torch.complex128, {"n": 8, "dim": 1}),
    ("rfft", torch.float64, {"dim": 0, "norm": "ortho"}),
    ("irfft", torch.complex128, {"n": 9, "dim": 1}),
]


@pytest.mark.parametrize("name, dtype, named", KINDS)
def test_transforms(ctx, group, name, dtype, named):
    whole = numbers(SHAPE, dtype)
    for mesh in meshes():
        for source in placements_of(mesh)[:: 1 if mesh.ndim == 1 else 3]:
            theirs = lambda x: getattr(torch.fft, name)(x, **named)  # noqa: B023, E731
            found = compared(lambda x: getattr(ptt, name)(x, **named), theirs, whole, spread(whole, mesh, source))
            assert list(found.placements) == source
            to = [Shard(0)] * mesh.ndim
            close(getattr(ptt, name)(spread(whole, mesh, source), placements=to, **named).full_tensor(), theirs(whole))


@pytest.mark.parametrize("name, dtype, named", KINDS)
def test_functions_of_torch_fft(ctx, group, registered, name, dtype, named):
    """PyTorch's derivatives are made of transforms, too."""
    whole = numbers(SHAPE, dtype)
    theirs = lambda x: getattr(torch.fft, name)(x, **named)  # noqa: E731
    for mesh in meshes():
        for source in placements_of(mesh)[:: 1 if mesh.ndim == 1 else 3]:
            compared(theirs, theirs, whole, spread(whole, mesh, source))


def test_transforms_of_contributions(ctx, group, registered):
    whole = numbers(SHAPE, torch.complex128)
    flat, grid = meshes()
    for mesh, source in ((flat, [Partial()]), (grid, [Partial(), Shard(1)]), (grid, [Shard(0), Partial()])):
        x = contributions(whole, mesh, source)
        expected = x.full_tensor()
        for dim in ((0,), (1,), (2, 0)):
            close(ptt.fftn(x, dim=dim).full_tensor(), torch.fft.fftn(expected, dim=dim))
            close(torch.fft.fftn(x, dim=dim).full_tensor(), torch.fft.fftn(expected, dim=dim))
    y = spread(whole, flat, [Shard(1)])
    for theirs in (lambda x: torch.fft.fft2(x, norm="ortho"), lambda x: torch.fft.hfft(x, dim=1), lambda x: torch.fft.ihfft(x.real, dim=1)):
        close(theirs(y).full_tensor(), theirs(whole))
    with torch.inference_mode():
        close(torch.fft.fftn(y).full_tensor(), torch.fft.fftn(whole))


def test_torch_fft_gathers_nothing(ctx, group, registered):
    from torch.distributed.tensor.debug import CommDebugMode

    whole = numbers((8, 6, 4), torch.complex128)
    x = spread(whole, meshes()[0], [Shard(0)])
    with CommDebugMode() as seen:
        y = torch.fft.fftn(x)
    assert seen.get_total_counts() == 0 and list(y.placements) == [Shard(0)]
    ptt.unregister()
    gathers = True
    with CommDebugMode() as seen:
        try:
            torch.fft.fftn(x)
        except NotImplementedError:  # by some versions of PyTorch
            gathers = False
    assert seen.get_total_counts() > 0 or RANKS == 1 or not gathers


def test_compiled_programs(ctx, group, registered):
    """Each call is in the one graph of the program, and so is its derivative."""
    whole, b = numbers(SHAPE, torch.complex128), numbers((5, 4), seed=2)
    a, h = numbers((7, 5), seed=3), hermitian(6)
    for mesh in meshes():
        placed, there = [Shard(0)] * mesh.ndim, [Shard(1), *[Replicate()] * (mesh.ndim - 1)]
        right = spread(b, mesh, placed)
        for mine, theirs, given in (
            (lambda x: torch.fft.fftn(x * 2).abs(), lambda x: torch.fft.fftn(x * 2).abs(), whole),
            (lambda x: ptt.fftn(x * 2, placements=there).abs(), lambda x: torch.fft.fftn(x * 2).abs(), whole),
            (lambda x: ptt.redistribute(x.sin(), there), torch.sin, a),
            (lambda x: ptt.redistribute(x.sin(), placements=[Partial()] * mesh.ndim), torch.sin, a),
            (lambda x: ptt.matmul(x, right, placements=there, activation="relu"), lambda x: torch.relu(x @ b), a),
            (lambda x: ptt.linalg.slogdet(ptt.linalg.inv(x)).logabsdet, lambda x: -torch.linalg.slogdet(x).logabsdet, h),
        ):
            torch.compiler.reset()
            compared(torch.compile(mine, backend="aot_eager", fullgraph=True), theirs, given, spread(given, mesh, placed))
        sizes = torch.compile(lambda x: ptt.fftn(x).abs(), backend="aot_eager", fullgraph=True)
        for rows in (6, 9, 4):  # which make compilers count with symbols
            close(sizes(spread(a[:1].expand(rows, 5).contiguous(), mesh, placed)).full_tensor(), torch.fft.fftn(a[:1].expand(rows, 5)).abs())
        x = spread(a, mesh, placed)
        iterated = torch.compile(lambda x: ptt.orthogonalize(x, dtype=None), backend="aot_eager", fullgraph=True)
        close(iterated(x).full_tensor(), ptt.orthogonalize(x, dtype=None).full_tensor())


def test_second_derivatives(ctx, group):
    a, b, h = numbers((7, 5)), numbers((5, 4), seed=2), hermitian(6)

    def twice(call, x):
        loss = lambda y: (torch.view_as_real(y) if y.is_complex() else y).pow(3).sum()  # noqa: E731
        (slope,) = torch.autograd.grad(loss(call(x)), x, create_graph=True)
        return slope, torch.autograd.grad(loss(slope), x)[0]

    for mesh in meshes():
        all_ = placements_of(mesh, 2)
        for number, placed in enumerate(all_):
            to = all_[(2 * number + 1) % len(all_)]
            for mine, theirs, given in (
                (lambda x: ptt.redistribute(x, to), lambda x: x * 1, a),
                (lambda x: ptt.fftn(x, placements=to), torch.fft.fftn, a),
                (lambda x: ptt.rfftn(x, placements=to), torch.fft.rfftn, a),
                (lambda x: ptt.matmul(x, spread(b, mesh, placed), placements=to), lambda x: x @ b, a),
                (ptt.linalg.inv, torch.linalg.inv, h),
            ):
                try:
                    found = twice(lambda x: mine(x).full_tensor(), spread(given, mesh, placed))  # noqa: B023
                except RuntimeError as error:
                    if "does not require grad" not in str(error):
                        raise
                    pytest.skip("DTensor.to_local of this version of PyTorch has first derivatives only")
                for one, expected in zip(found, twice(theirs, given.clone().requires_grad_())):
                    close(one.full_tensor(), expected)


# --- products


def test_products(ctx, group):
    a, b = numbers((7, 5)), numbers((5, 9), seed=2)
    for mesh in meshes():
        all_ = placements_of(mesh, 2)
        for number, (of_a, of_b) in enumerate(itertools.product(all_, all_)):
            right = spread(b, mesh, of_b)
            compared(lambda x: ptt.matmul(x, right), lambda x: x @ b, a, spread(a, mesh, of_a))
            to = all_[number % len(all_)]
            right = spread(b, mesh, of_b)
            found = compared(lambda x: ptt.matmul(spread(a, mesh, of_a), x, placements=to), lambda x: a @ x, b, right)
            assert list(found.placements) == to


def test_products_of_arrays_of_matrices(ctx, group):
    a, b, c = numbers((4, 3, 5)), numbers((5, 6), seed=2), numbers((4, 5, 6), seed=3)
    for mesh in meshes():
        of_b, of_all = placements_of(mesh, 2), placements_of(mesh)
        for number, of_a in enumerate(of_all):
            right, to = of_b[number % len(of_b)], of_all[(3 * number + 1) % len(of_all)]
            compared(lambda x: ptt.matmul(x, spread(b, mesh, right)), lambda x: x @ b, a, spread(a, mesh, of_a))
            found = compared(lambda x: ptt.matmul(spread(a, mesh, of_a), x, placements=to), lambda x: a @ x, b, spread(b, mesh, right))
            assert list(found.placements) == to
            found = compared(lambda x: ptt.matmul(x, spread(c, mesh, to), placements=to), lambda x: x @ c, a, spread(a, mesh, of_a))
            assert list(found.placements) == to
            compared(lambda x: ptt.matmul(x, spread(a, mesh, to), transpose_a=True, transpose_b=True), lambda x: x.T @ a.mT, b, spread(b, mesh, right))
        x, z = spread(a, mesh, [Shard(0)] * mesh.ndim), spread(numbers((6,), seed=4), mesh, [Shard(0)] * mesh.ndim)
        found = ptt.matmul(x, spread(b, mesh, [Shard(1)] * mesh.ndim), bias=z, activation="relu")
        close(found.full_tensor(), torch.relu(a @ b + numbers((6,), seed=4)))
        with pytest.raises(pt.UnsupportedError, match="bias"):
            ptt.matmul(x, spread(c, mesh, [Shard(0)] * mesh.ndim), bias=z)


def test_products_with_an_epilogue(ctx, group):
    a, b, bias = numbers((5, 7)), numbers((9, 5), seed=2), numbers((9,), seed=3)
    for mesh in meshes():
        x, y, z = (spread(one, mesh, [place] * mesh.ndim) for one, place in ((a, Shard(1)), (b, Shard(0)), (bias, Shard(0))))
        found = ptt.matmul(x, y, transpose_a=True, transpose_b=True, bias=z, activation="relu", placements=[Shard(0)] * mesh.ndim)
        whole = [one.clone().requires_grad_() for one in (a, b, bias)]
        expected = torch.relu(whole[0].T @ whole[1].T + whole[2])
        close(found.full_tensor(), expected)
        found.full_tensor().square().sum().backward()
        expected.square().sum().backward()
        for mine, theirs in zip((x, y, z), whole):
            close(mine.grad.full_tensor(), theirs.grad)


# --- linear algebra


def hermitian(n):
    a = numbers((n, n))
    return a @ a.T + n * torch.eye(n, dtype=a.dtype)


def test_linear_algebra(ctx, group):
    n = 9
    a, b = hermitian(n), numbers((n, 4), seed=2)
    triangle = a.tril()
    linalg = torch.linalg
    cases = [
        (ptt.linalg.inv, linalg.inv, a),
        (ptt.linalg.cholesky, linalg.cholesky, a),
        (lambda x: ptt.linalg.slogdet(x).logabsdet, lambda x: linalg.slogdet(x).logabsdet, a),
        (ptt.linalg.det, linalg.det, a / n),
        (lambda x: ptt.linalg.eigh(x).eigenvalues, lambda x: linalg.eigh(x).eigenvalues, a),
        (lambda x: ptt.linalg.svd(x).S, lambda x: linalg.svd(x, full_matrices=False).S, b),
        (lambda x: (lambda q, r: ptt.matmul(q, r))(*ptt.linalg.qr(x)), lambda x: (lambda q, r: q @ r)(*linalg.qr(x)), b),
        (lambda x: ptt.linalg.polar(x).U, lambda x: (lambda u, _, vh: u @ vh)(*linalg.svd(x, full_matrices=False)), b),
    ]
    for mesh in meshes():
        for placed in placements_of(mesh, 2)[:: 1 if mesh.ndim == 1 else 2]:
            right, lower = spread(b, mesh, placed), spread(triangle, mesh, placed)
            for mine, theirs, whole in cases:
                compared(mine, theirs, whole, spread(whole, mesh, placed))
            compared(lambda x: ptt.linalg.solve(x, right), lambda x: linalg.solve(x, b), a, spread(a, mesh, placed))
            found = compared(lambda x: ptt.linalg.solve(spread(a, mesh, placed), x), lambda x: linalg.solve(a, x), b, spread(b, mesh, placed))
            assert list(found.placements) == placed
            theirs = lambda x: linalg.solve_triangular(triangle, x, upper=False)  # noqa: E731
            compared(lambda x: ptt.linalg.solve_triangular(lower, x, upper=False), theirs, b, spread(b, mesh, placed))


def test_orthogonalization(ctx, group):
    from test_torch_orthogonal import MUON, iterated

    whole = numbers((6, 10))
    for mesh in meshes():
        for placed in placements_of(mesh, 2):
            x = spread(whole, mesh, placed)
            found = ptt.orthogonalize(x, dtype=None)
            assert list(found.placements) == placed and not found.requires_grad
            close(found.full_tensor(), iterated(whole, 5, MUON))


# --- meshes


def test_meshes_of_some_ranks_and_in_another_order(ctx, group):
    """Of the latter PyTorch itself gathers parts in the order of ranks."""
    whole = numbers(SHAPE)
    ptt.context_of(of_ranks(range(RANKS)))
    for ranks in (list(reversed(range(RANKS))), list(range(1, RANKS)) or [0]):
        mesh = of_ranks(ranks)
        if ctx.rank not in ranks:
            continue
        among = ptt.context_of(mesh)
        assert among is ptt.context_of(mesh) and (among.size, among.rank) == (len(ranks), ranks.index(ctx.rank))
        x = spread(whole, mesh, [Shard(0)])
        found = ptt.redistribute(ptt.redistribute(x, [Shard(1)]), [Replicate()])
        close(found.to_local(), whole)
        close(ptt.redistribute(x, [Shard(1)]).to_local(), spread(whole, mesh, [Shard(1)]).to_local())


def of_ranks(ranks):
    return torch.distributed.device_mesh.DeviceMesh("cpu", list(ranks))


def test_axes_of_a_mesh(ctx, group):
    """Each row of the mesh calls for itself."""
    _, grid = meshes()
    whole = numbers(SHAPE, torch.complex128)
    compared(ptt.fftn, torch.fft.fftn, whole, spread(whole, grid["tp"], [Shard(0)]))


def test_contexts_end_with_the_group(ctx, folder):
    import gc
    import weakref

    dist = torch.distributed
    seen = []
    for number in range(3):
        dist.init_process_group("gloo", init_method=f"file://{folder}/store{number}", rank=ctx.rank, world_size=RANKS)
        seen.append(weakref.ref(ptt.context_of(of_ranks(range(RANKS)))))
        dist.destroy_process_group()
        gc.collect()
    assert [one() for one in seen] == [None] * 3


# --- what else takes DTensors


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(6, 12, dtype=torch.float64), torch.nn.Linear(12, 6, dtype=torch.float64)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


def test_layers_of_pytorch_keep_working(ctx, group, registered):
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    fully_shard = pytest.importorskip("torch.distributed.fsdp").fully_shard
    flat, grid = meshes()
    x = numbers((4, 6))
    for prepared in (
        lambda block: parallelize_module(block, flat, {"up": ColwiseParallel(), "down": RowwiseParallel()}),
        lambda block: fully_shard(block, mesh=flat),
        lambda block: fully_shard(parallelize_module(block, grid["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()}), mesh=grid["dp"]),
    ):
        torch.manual_seed(0)
        whole = Block()
        block = Block()
        block.load_state_dict(whole.state_dict())
        block = prepared(block)
        block(x).square().sum().backward()
        whole(x).square().sum().backward()
        for mine, theirs in zip(block.parameters(), whole.parameters()):
            close(mine.grad.full_tensor(), theirs.grad)
            if mine.shape[0] % RANKS == 0 or "_StridedShard" not in str(mine.placements):  # what FSDP cuts after tensor parallelism, too
                close(ptt.redistribute(mine.grad, [Replicate()] * mine.grad.device_mesh.ndim).full_tensor(), theirs.grad)


def test_what_is_refused(ctx, group):
    flat, grid = meshes()
    x = spread(numbers(SHAPE), flat, [Shard(0)])
    with pytest.raises(pt.ArgumentError, match="placements"):
        ptt.redistribute(x, [Shard(0), Shard(1)])
    with pytest.raises(pt.UnsupportedError, match="shape"):
        ptt.redistribute(x, [Shard(3)])
    with pytest.raises(pt.ArgumentError, match="DTensor"):
        ptt.matmul(spread(numbers((3, 3)), flat, [Shard(0)]), numbers((3, 3)))
    with pytest.raises(pt.ArgumentError, match="matrices"):
        ptt.matmul(x, spread(numbers((3, 5, 6)), flat, [Shard(0)]))
    with pytest.raises(pt.ArgumentError, match="real"):
        ptt.rfftn(x.to(torch.complex128))
    with pytest.raises(pt.ArgumentError, match="dimensions"):
        ptt.fft(x, dim=3)
    if RANKS > 1:
        with pytest.raises(pt.DisagreementError, match="destination"):
            ptt.redistribute(x, [Shard(min(ctx.rank, 1))])
    with pytest.raises(pt.UnsupportedError, match="meshes"):
        ptt.matmul(spread(numbers((3, 3)), flat, [Shard(0)]), spread(numbers((3, 3)), grid, [Shard(0), Shard(1)]))


# --- launchers


@pytest.mark.skipif(PROCESSES, reason="starts its own processes")
@pytest.mark.parametrize("launcher", ["torchrun", "spawn"])
def test_ranks_of_launchers(tmp_path, launcher):
    program = str(pathlib.Path(__file__).parent / "torch_whole_program.py")
    start = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", program] if launcher == "torchrun" else [program, str(tmp_path)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_"))}
    done = subprocess.run([sys.executable, *start], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200)
    assert done.returncode == 0 and done.stdout.count("equal") == 2, done.stdout
