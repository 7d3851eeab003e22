"""partita.torch: which way calls go. Eager ones past PyTorch's dispatcher; those that somebody looks at through it."""

import os

import numpy as np
import pytest

import partita as pt

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not hasattr(torch.library, "custom_op"):
    pytest.skip("PyTorch 2.4 or newer", allow_module_level=True)

import partita.torch as ptt  # noqa: E402
from test_launchers import started  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

WHERE = "cuda" if os.environ.get("PARTITA_TEST_DEVICE") == "cuda" else "cpu"
on_a_gpu = pytest.mark.skipif(WHERE == "cpu", reason="PyTorch on a GPU")


class Seen(TorchDispatchMode):
    """The operators of ours that a thread comes to."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.namespace == "partita":
            self.names.append(str(function).split(".")[1])
        return function(*args, **(kwargs or {}))


def calls_of(ctx, x):
    """Each with as many rows as ranks."""
    return {
        "all_reduce": lambda: ptt.all_reduce(ctx, x),
        "all_gather": lambda: ptt.all_gather(ctx, x),
        "reduce_scatter": lambda: ptt.reduce_scatter(ctx, x),
        "all_to_all": lambda: ptt.all_to_all(ctx, x),
        "broadcast": lambda: ptt.broadcast(ctx, x, root=ctx.size - 1),
        "scan": lambda: ptt.scan(ctx, x),
    }


def rows(ctx, dtype=torch.float64):
    return torch.randn(ctx.size, 3, dtype=dtype, generator=torch.Generator().manual_seed(ctx.rank)).to(WHERE)


class Marked(torch.Tensor):
    """Of a class of the program's, with nothing of its own."""


@pytest.mark.parametrize("mark", [lambda x: x.as_subclass(Marked), lambda x: torch.nn.Parameter(x.as_subclass(Marked))])
def test_tensors_of_a_class_have_gradients(ctx, mark):
    for name in calls_of(ctx, rows(ctx)):
        plain, marked = rows(ctx).requires_grad_(), mark(rows(ctx)).requires_grad_()
        wanted, found = calls_of(ctx, plain)[name](), calls_of(ctx, marked)[name]()
        wanted.sin().sum().backward(), found.sin().sum().backward()
        assert isinstance(found, Marked) and torch.equal(found.as_subclass(torch.Tensor), wanted)
        assert torch.equal(marked.grad.as_subclass(torch.Tensor), plain.grad)


@pytest.mark.filterwarnings("ignore")  # PyTorch calls these layouts new
@pytest.mark.parametrize(
    "make", [lambda: torch.eye(3).to_sparse(), lambda: torch.eye(3).to_sparse_csr(), lambda: torch.nested.nested_tensor([torch.ones(2)])]
)
def test_tensors_that_are_not_dense_are_refused(ctx, make):
    given = make() if ctx.rank == ctx.size - 1 else torch.eye(3)
    ctx = ctx.split(0)  # which has not made this call, so that no rank is in the midst of one
    with pytest.raises(pt.ArgumentError, match="expected a dense tensor, got"):
        ptt.all_reduce(ctx, given)
    ctx.barrier()


def test_derivatives_in_forward_mode_are_refused(ctx):
    """PyTorch would give none, or zeros. One rank's: its levels are those of all threads."""
    from torch.autograd import forward_ad

    ctx = ctx.split(0)  # which has made none of these calls, so that no rank is in the midst of one
    x, forward = rows(ctx), ctx.rank == ctx.size - 1

    def refused():
        return pytest.raises(pt.UnsupportedError, match="forward-mode derivatives")

    def along(function):
        torch.func.jvp(function, (x,), (torch.ones_like(x),))

    with refused():
        along(torch.vmap(lambda given: ptt.all_reduce(ctx, given))) if forward else ptt.all_reduce(ctx, x)
    for name in calls_of(ctx, x):

        def call(given, name=name):
            return calls_of(ctx, given)[name]()

        with refused():
            along(call) if forward else call(x)
        with refused():
            if forward:
                with forward_ad.dual_level():
                    call(forward_ad.make_dual(x, x))
            call(x)
        if forward:
            with forward_ad.dual_level():  # of another tensor
                call(x)
        else:
            call(x)
    ctx.barrier()


def test_modes_see_operators_and_eager_calls_give_the_same(ctx):
    for given in (rows(ctx), rows(ctx).requires_grad_(), torch.nn.Parameter(rows(ctx))):
        for name, call in calls_of(ctx, given).items():
            eager = call()
            with Seen() as seen:
                found = call()
            assert seen.names == [name]
            assert torch.equal(found, eager) and eager.requires_grad == found.requires_grad == given.requires_grad
            assert type(eager) is torch.Tensor
            if given.requires_grad:
                assert eager.grad_fn.name().startswith(f"partita_{name}")
                gradients = [torch.autograd.grad(one.square().sum(), given)[0] for one in (eager, found)]
                assert torch.equal(*gradients)
            with torch.no_grad():
                assert not call().requires_grad


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_gradients_come_in_batches(ctx):
    x = rows(ctx).requires_grad_()
    for name, call in calls_of(ctx, x).items():
        found = call()
        some = torch.randn(2, *found.shape, dtype=found.dtype, generator=torch.Generator().manual_seed(ctx.rank)).to(WHERE)
        (together,) = torch.autograd.grad(found, x, some, is_grads_batched=True, retain_graph=True)
        for one, gradient in zip(together, some):
            assert torch.equal(one, torch.autograd.grad(found, x, gradient, retain_graph=True)[0]), name


def test_backward_without_a_graph_records_nothing(ctx):
    x = rows(ctx).requires_grad_()
    ptt.all_gather(ctx, x).square().sum().backward()
    assert not x.grad.requires_grad
    (again,) = torch.autograd.grad(ptt.all_gather(ctx, x).square().sum(), x, create_graph=True)
    assert again.requires_grad and torch.equal(again, x.grad)


def test_tensors_without_memory_and_of_other_classes(ctx):
    class Mine(torch.Tensor):
        pass

    x = rows(ctx)
    there = ptt.all_gather(ctx, x.to("meta"))
    assert there.is_meta and there.shape == (ctx.size**2, 3)
    assert ptt.reduce_scatter(ctx, x.to("meta")).shape == (1, 3)
    mine = ptt.all_reduce(ctx, x.as_subclass(Mine))
    assert type(mine) is Mine and torch.equal(mine.as_subclass(torch.Tensor), ptt.all_reduce(ctx, x))


def test_equal_counts_are_equal_parts(ctx):
    x = rows(ctx)
    for name in ("all_gather", "reduce_scatter"):
        call = getattr(ptt, name)
        counts = [1] * ctx.size
        given = x[:1] if name == "all_gather" else x
        assert torch.equal(call(ctx, given, counts=counts), call(ctx, given))


def test_tensors_are_read_as_they_lie(ctx):
    """Of every dtype, by their strides; with what autograd knows of them."""
    names = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
    for dtype in [getattr(torch, name) for name in names]:
        x = (torch.arange(24, device=WHERE).reshape(4, 6) % 5).to(dtype)
        for given in (x, x.T, x[1:, ::2], x[:0], x[0, 0]):
            found = pt.all_gather(ctx, given.reshape(1) if given.ndim == 0 else given)
            wanted = torch.cat([given.reshape(1) if given.ndim == 0 else given] * ctx.size)
            assert found.dtype == dtype and torch.equal(found, wanted)
    x = rows(ctx)
    assert torch.equal(pt.all_reduce(ctx, x.clone().requires_grad_()), pt.all_reduce(ctx, x))
    assert torch.equal(pt.all_reduce(ctx, torch.nn.Parameter(x)), pt.all_reduce(ctx, x))


def test_conjugates_are_made_or_refused(ctx):
    z = rows(ctx, torch.complex128)
    for marked in (z.conj(), z.conj().imag):
        made = marked.resolve_conj().resolve_neg()
        assert torch.equal(ptt.all_reduce(ctx, marked), ptt.all_reduce(ctx, made))
        with pytest.raises(pt.ArgumentError, match="resolve_conj"):
            pt.all_reduce(ctx, marked)
    assert not ctx.failed


def test_the_message_of_what_is_no_tensor(ctx):
    with pytest.raises(pt.TypeError, match="x: expected a tensor, got ndarray"):
        ptt.all_reduce(ctx, np.zeros(3))
    with pytest.raises(pt.TypeError, match="expected a context of partita, got str"):
        ptt.all_reduce("ctx", torch.zeros(3))


@on_a_gpu
def test_calls_go_into_the_current_stream(ctx):
    x = torch.zeros(ctx.size, 1 << 18, device=WHERE)
    for value in range(1, 20):
        with torch.cuda.stream(torch.cuda.Stream()):
            x.fill_(value)
            for name, call in calls_of(ctx, x).items():
                wanted = value * (ctx.size if "reduce" in name else ctx.rank + 1 if name == "scan" else 1)
                assert bool((call() == wanted).all()), name


@on_a_gpu
def test_calls_are_captured_into_graphs(ctx):
    x = torch.zeros(ctx.size, 64, device=WHERE)
    calls = {name: call for name, call in calls_of(ctx, x).items() if name != "scan"}
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # what is planned in a first call cannot be captured
        for call in calls.values():
            call()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        found = {name: call() for name, call in calls.items()}
    for value in (1, 2, 3):
        x.fill_(value)
        graph.replay()
        for name, one in found.items():
            assert bool((one == value * (ctx.size if "reduce" in name else 1)).all()), name


def drawn(*shape):
    """The same on all ranks."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape))).to(WHERE)


def after_two_layers(ctx, dtype, reduce_dtype):
    """The result, and the gradient of what is given."""
    given = {"bias": False, "dtype": dtype, "device": WHERE}
    layers = []
    for kind, sizes in ((ptt.ColumnParallelLinear, (6, 8)), (ptt.RowParallelLinear, (8, 6))):
        whole = torch.nn.Linear(*sizes, **given)
        with torch.no_grad():
            whole.weight.copy_(drawn(*reversed(sizes)))
        layers.append(kind(ctx, *sizes, reduce_dtype=reduce_dtype, **given))
        layers[-1].take(whole)
    x = drawn(2 * ctx.size, 6).to(dtype)[2 * ctx.rank :][:2].clone().requires_grad_()
    y = layers[1](layers[0](x))
    y.float().sum().backward()
    return y.detach().float(), x.grad.float()


def test_in_what_sums_travel(ctx):
    """By default in the dtype of the weights; the library refuses others than that and the sums' own."""
    for dtype, precision in ((torch.bfloat16, 3e-2), (torch.float32, 1e-5)):
        expected = after_two_layers(ctx, dtype, None)
        for reduce_dtype in (dtype, torch.float32):
            for found, wanted in zip(after_two_layers(ctx, dtype, reduce_dtype), expected):
                assert float((found - wanted).abs().max()) <= precision * float(wanted.abs().max())
    with pytest.raises(pt.UnsupportedError, match="cannot reduce sums"):
        after_two_layers(ctx, torch.bfloat16, torch.float16)
    assert not ctx.failed


def test_the_stream_of_a_tensor(monkeypatch):
    """By its number where PyTorch tells that, else by the object."""
    from types import SimpleNamespace

    from partita._streams import stream_of_tensor

    there = SimpleNamespace(is_cuda=True, get_device=lambda: 3, device="cuda:3")
    monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda device: 100 + device, raising=False)
    assert stream_of_tensor(there) == 103
    monkeypatch.delattr(torch._C, "_cuda_getCurrentRawStream")
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: SimpleNamespace(cuda_stream=f"20{device[-1]}"))
    assert stream_of_tensor(there) == 203
    assert stream_of_tensor(torch.zeros(1)) is None


COMPILED = """
import functools, torch, torch.utils.checkpoint, partita as pt, partita.torch as ptt
context = pt.initialize(device="cpu", deadline=60)

def gradients(step, x, parameters=()):
    return torch.autograd.grad(step(x).square().sum(), (x, *parameters))

def alike(found, expected):
    assert all(torch.allclose(*two) for two in zip(found, expected)), (found, expected)

def step(x):
    y = ptt.reduce_scatter(context, ptt.all_gather(context, x.sin()).cos())
    return ptt.broadcast(context, ptt.all_to_all(context, y)) + ptt.all_reduce(context, y, "max")

x = torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(context.rank)).requires_grad_()
expected = gradients(step, x)
alike(gradients(functools.partial(torch.utils.checkpoint.checkpoint, step, use_reentrant=False), x), expected)
alike(gradients(torch.compile(step, backend="aot_eager", fullgraph=True, dynamic=True), x), expected)
up = ptt.ColumnParallelLinear(context, 3, 4, activation="gelu", dtype=torch.float64)
layers = torch.nn.Sequential(up, ptt.RowParallelLinear(context, 4, 3, dtype=torch.float64))
parameters = tuple(layers.parameters())
alike(gradients(torch.compile(layers, backend="aot_eager"), x, parameters), gradients(layers, x, parameters))

@functools.partial(torch.compile, backend="aot_eager")
def step_of(context, rows, x):
    whole = ptt.gather(context, ptt.all_gather(context, x.sin()))
    return ptt.redistribute(context, ptt.scatter(context, whole), rows, rows)

for one in (context, context.split(0), context.split(0)):  # of another number the compiler makes a symbol
    for shape in ((2, 3), (4, 3)):
        given = torch.randn(shape, dtype=torch.float64).requires_grad_()
        rows = pt.Layout(pt.Slab(0), shape, 1)
        alike(gradients(functools.partial(step_of, one, rows), given), gradients(torch.sin, given))

square = pt.Layout(pt.Slab(0), (3, 3), 1)

def solved(a):
    factor = ptt.linalg.cholesky(context, a @ a.mT + torch.eye(3), square)
    values, vectors = ptt.linalg.eigh(context, a @ a.mT, square)
    return ptt.linalg.solve(context, factor, vectors.abs(), square, square) + values + ptt.linalg.slogdet(context, a, square).logabsdet

given = torch.randn(3, 3, dtype=torch.float64).requires_grad_()
alike(gradients(torch.compile(solved, backend="aot_eager"), given), gradients(solved, given))
context.close()
print("the same")
"""


def test_programs_under_compilers_and_checkpoints():
    """In a process of its own: the compiler of ranks that are threads is one."""
    ((printed, code),) = started(1, "", body=COMPILED)
    assert code == 0 and printed.endswith("the same\n"), printed
