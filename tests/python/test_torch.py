"""partita.torch: every operator against its meaning, and its derivative against the adjoint's dot product; on a GPU where
PARTITA_TEST_DEVICE=cuda."""

import copy
import os

import numpy as np
import pytest

import partita as pt

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not hasattr(torch.library, "custom_op"):
    pytest.skip("PyTorch 2.4 or newer", allow_module_level=True)

import partita.torch as ptt  # noqa: E402
from shapes import part, rules, whole  # noqa: E402
from test_launchers import started  # noqa: E402

WHERE = "cuda" if os.environ.get("PARTITA_TEST_DEVICE") == "cuda" else "cpu"


def close(found, expected, rtol=1e-12, atol=1e-12):
    here = [one.detach().cpu() if isinstance(one, torch.Tensor) else one for one in (found, expected)]
    np.testing.assert_allclose(*here, rtol=rtol, atol=atol)


def numbers(ctx, shape, dtype=torch.float64, seed=0):
    """Other ones on every rank."""
    generator = torch.Generator().manual_seed(1000 * seed + ctx.rank)
    return torch.randn(tuple(shape), dtype=dtype, generator=generator).to(WHERE)


def own(array, layout, ctx):
    """This rank's part of what all ranks have."""
    return torch.from_numpy(part(array, layout, ctx.rank).copy()).to(WHERE)


def total(ctx, value):
    """Of all ranks."""
    return float(pt.all_reduce(ctx, np.array([float(torch.as_tensor(value).detach())]))[0])


def inner(ctx, x, y):
    return total(ctx, (x.conj() * y).real.sum() if x.numel() else 0.0)


def check_adjoint(ctx, function, x, seed=7):
    """<A x, y> = <x, A* y> over all ranks, for a linear A; and backward twice is forward again."""
    x = x.detach().requires_grad_()
    found = function(x)
    y = numbers(ctx, found.shape, found.dtype, seed).requires_grad_()
    (back,) = torch.autograd.grad(found, x, y, create_graph=True)
    assert back.shape == x.shape and back.dtype == x.dtype
    close(inner(ctx, found, y), inner(ctx, x, back), rtol=1e-10, atol=1e-10)
    again = numbers(ctx, x.shape, x.dtype, seed + 1)
    if back.requires_grad:
        (forth,) = torch.autograd.grad(back, y, again)
        close(inner(ctx, y, forth), inner(ctx, back, again), rtol=1e-10, atol=1e-10)


def counts_of(ctx):
    return [rank + 1 for rank in range(ctx.size)]


def test_collectives_are_those_of_the_library(ctx):
    x = numbers(ctx, (ctx.size, 3))
    assert torch.equal(ptt.all_reduce(ctx, x), pt.all_reduce(ctx, x))
    assert torch.equal(ptt.all_reduce(ctx, x, "max"), pt.all_reduce(ctx, x, reduction="max"))
    assert torch.equal(ptt.all_gather(ctx, x), pt.all_gather(ctx, x))
    assert torch.equal(ptt.all_to_all(ctx, x), pt.all_to_all(ctx, x))
    assert torch.equal(ptt.reduce_scatter(ctx, x), pt.reduce_scatter(ctx, x))
    assert torch.equal(ptt.scan(ctx, x, exclusive=True), pt.scan(ctx, x, exclusive=True))
    assert torch.equal(ptt.broadcast(ctx, x, root=ctx.size - 1), pt.broadcast(ctx, x.clone(), ctx.size - 1))
    expected = pt.reduce(ctx, x, root=0)
    assert torch.equal(ptt.reduce(ctx, x), expected if ctx.rank == 0 else torch.zeros_like(x))
    whole = ptt.gather(ctx, x)
    assert whole.shape == ((ctx.size**2, 3) if ctx.rank == 0 else (0, 3))
    part = ptt.scatter(ctx, whole if ctx.rank == 0 else x.new_empty(ctx.size**2, 3))
    assert torch.equal(part, x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_derivatives_of_collectives(ctx, dtype):
    after, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    own, uneven = numbers(ctx, (ctx.size, 2, 3), dtype), numbers(ctx, (ctx.rank + 1, 2), dtype)
    counts = counts_of(ctx)
    for function in (
        lambda x: ptt.all_reduce(ctx, x),
        lambda x: ptt.reduce(ctx, x, root=ctx.size - 1),
        lambda x: ptt.broadcast(ctx, x, root=ctx.size - 1),
        lambda x: ptt.all_gather(ctx, x),
        lambda x: ptt.reduce_scatter(ctx, x),
        lambda x: ptt.gather(ctx, x),
        lambda x: ptt.scatter(ctx, x),
        lambda x: ptt.all_to_all(ctx, x),
        lambda x: ptt.scan(ctx, x),
        lambda x: ptt.scan(ctx, x, exclusive=True),
        lambda x: ptt.send_receive(ctx, x, after, before),
        lambda x: ptt.all_reduce(ctx, x.transpose(0, 2)),
    ):
        check_adjoint(ctx, function, own)
    check_adjoint(ctx, lambda x: ptt.all_gather(ctx, x, counts=counts), uneven)
    check_adjoint(ctx, lambda x: ptt.gather(ctx, x, counts=counts, root=ctx.size - 1), uneven)
    sent = [rank + 1 for rank in range(ctx.size)]
    check_adjoint(
        ctx,
        lambda x: ptt.all_to_all(ctx, x, send_counts=sent, receive_counts=[ctx.rank + 1] * ctx.size),
        numbers(ctx, (sum(sent), 2), dtype),
    )
    check_adjoint(ctx, lambda x: ptt.reduce_scatter(ctx, x, counts=counts), numbers(ctx, (sum(counts), 2), dtype))


def test_a_shared_sum_counts_once(ctx):
    x = numbers(ctx, (5,)).requires_grad_()
    ptt.all_reduce(ctx, x, shared=True).square().sum().backward()
    assert torch.equal(x.grad, 2 * pt.all_reduce(ctx, x.detach()))
    with pytest.raises(pt.ArgumentError, match="requires the reduction sum"):
        ptt.all_reduce(ctx, x, "max", shared=True)


@pytest.mark.parametrize("reduction", ["min", "max", "product"])
def test_derivatives_of_other_reductions_against_differences(ctx, reduction):
    x = numbers(ctx, (4,))
    weight = numbers(ctx, (4,), seed=3)

    def loss(given):
        return total(ctx, (ptt.all_reduce(ctx, given, reduction) * weight).sum())

    given = x.clone().requires_grad_()
    (ptt.all_reduce(ctx, given, reduction) * weight).sum().backward()
    for rank in range(ctx.size):
        for i in range(4):
            step = torch.zeros_like(x)
            step[i] = 1e-6 if rank == ctx.rank else 0.0
            slope = (loss(x + step) - loss(x - step)) / 2e-6
            if rank == ctx.rank:
                close(given.grad[i], slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("number", range(8))
def test_redistribution(ctx, number):
    shape, rule = (7, 10), rules(ctx.size)[number]
    layout = pt.Layout(rule, shape, ctx.size)
    columns = pt.Layout(pt.Slab(1), shape, ctx.size)
    x = own(whole(shape), layout, ctx)
    there = ptt.redistribute(ctx, x, layout, columns)
    assert torch.equal(there, own(whole(shape), columns, ctx))
    assert torch.equal(ptt.redistribute(ctx, there, columns, layout), x)
    check_adjoint(ctx, lambda x: ptt.redistribute(ctx, x, layout, columns), x)
    check_adjoint(ctx, lambda x: ptt.redistribute(ctx, x, columns, layout), there)


def test_redistribution_of_contributions_and_of_replicas(ctx):
    mesh = pt.Mesh({"ranks": ctx.size})
    shape = (4, 6)
    partial = pt.Layout(pt.Partitioned(mesh, pt.P(None, None, partial="ranks")), shape, ctx.size)
    whole, rows = pt.Layout(pt.Replicated(), shape, ctx.size), pt.Layout(pt.Slab(0), shape, ctx.size)
    x = numbers(ctx, shape)
    assert torch.allclose(ptt.redistribute(ctx, x, partial, whole), pt.all_reduce(ctx, x))
    check_adjoint(ctx, lambda x: ptt.redistribute(ctx, x, partial, rows), x)
    check_adjoint(ctx, lambda x: ptt.redistribute(ctx, x, partial, whole), x)
    check_adjoint(ctx, lambda x: ptt.redistribute(ctx, x, rows, whole), numbers(ctx, rows.local_shape(ctx.rank)))


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_transforms(ctx, norm):
    shape = (6, 5, 7)
    slabs = pt.Layout(pt.Slab(0), shape, ctx.size)
    samples = np.random.default_rng(2).standard_normal(shape)
    x = own(samples, slabs, ctx)
    half = ptt.rfft(ctx, x, slabs, pt.Slab(1), norm=norm)
    spectrum = pt.Layout(pt.Slab(1), (6, 5, 4), ctx.size)
    close(half, part(np.fft.rfftn(samples, norm=norm), spectrum, ctx.rank), atol=1e-10)
    back = ptt.irfft(ctx, half, spectrum, pt.Slab(0), norm=norm, last_length=7)
    close(back, x)
    close(ptt.fft(ctx, x, slabs, norm=norm), part(np.fft.fftn(samples, norm=norm), slabs, ctx.rank), atol=1e-10)
    with pytest.raises(pt.ArgumentError, match="last_length is 0"):
        ptt.irfft(ctx, half, spectrum, last_length=0)
    check_adjoint(ctx, lambda x: ptt.rfft(ctx, x, slabs, pt.Slab(1), norm=norm), x)
    for length in (6, 7):
        check_adjoint(
            ctx,
            lambda x, length=length: ptt.irfft(ctx, x, spectrum, pt.Slab(2), axes=(0, 2), norm=norm, last_length=length),
            numbers(ctx, spectrum.local_shape(ctx.rank), torch.complex128),
        )
    z = numbers(ctx, slabs.local_shape(ctx.rank), torch.complex128)
    for inverse in (False, True):
        check_adjoint(ctx, lambda x, i=inverse: ptt.fft(ctx, x, slabs, pt.Slab(2), axes=(1, 2), norm=norm, inverse=i), z)


def drawn(shape, dtype, seed):
    """The same on all ranks."""
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed)).numpy()


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
def test_products(ctx, dtype, transposed):
    m, n, k = 5, 7, 6
    shape_a, shape_b = ((k, m) if transposed[0] else (m, k)), ((n, k) if transposed[1] else (k, n))
    for rule_a, rule_b, rule_d in ((pt.Slab(0), pt.Slab(1), pt.Slab(0)), (pt.Slab(1), pt.Slab(0), pt.Replicated())):
        of_a, of_b = pt.Layout(rule_a, shape_a, ctx.size), pt.Layout(rule_b, shape_b, ctx.size)
        whole_a, whole_b = (drawn(shape, dtype, seed) for seed, shape in ((1, shape_a), (2, shape_b)))
        a, b = own(whole_a, of_a, ctx), own(whole_b, of_b, ctx)

        def product(left, right):
            return ptt.matmul(ctx, left, right, of_a, of_b, rule_d, transpose_a=transposed[0], transpose_b=transposed[1])

        expected = (whole_a.T if transposed[0] else whole_a) @ (whole_b.T if transposed[1] else whole_b)
        of_d = pt.Layout(rule_d, (m, n), ctx.size)
        close(product(a, b), part(expected, of_d, ctx.rank))
        check_adjoint(ctx, lambda x: product(x, b), a)
        check_adjoint(ctx, lambda x: product(a, x), b)


def one_layer_after_the_other(context, sequence_parallel, up, down, x):
    given = {"sequence_parallel": sequence_parallel, "dtype": torch.float64, "device": WHERE}
    first, second = ptt.ColumnParallelLinear(context, 6, 10, **given), ptt.RowParallelLinear(context, 10, 4, **given)
    first.take(up), second.take(down)
    return first, second, second(torch.nn.functional.gelu(first(x)))


@pytest.mark.parametrize("sequence_parallel", [True, False])
def test_layers_are_those_of_one_process(ctx, sequence_parallel):
    def given(seed, *shape):
        return torch.from_numpy(drawn(shape, torch.float64, seed)).to(WHERE)

    up, down = (torch.nn.Linear(*sizes, dtype=torch.float64, device=WHERE) for sizes in ((6, 10), (10, 4)))
    with torch.no_grad():
        for seed, one in enumerate((*up.parameters(), *down.parameters())):
            one.copy_(given(seed, *one.shape))
    x = given(10, 3 * ctx.size, 2, 6).requires_grad_()
    y = down(torch.nn.functional.gelu(up(x)))
    weight = given(11, *y.shape)
    (y * weight).sum().backward()

    here = slice(3 * ctx.rank, 3 * ctx.rank + 3) if sequence_parallel else slice(None)
    mine = x.detach()[here].clone().requires_grad_()
    first, second, found = one_layer_after_the_other(ctx, sequence_parallel, up, down, mine)
    close(found.detach(), y.detach()[here])
    (found * weight[here]).sum().backward()
    close(mine.grad, x.grad[here])
    columns = torch.as_tensor(first.layout.indices(0, ctx.rank))
    close(first.weight.grad, up.weight.grad[columns])
    close(first.bias.grad, up.bias.grad[columns])
    close(second.weight.grad, down.weight.grad[:, columns])
    close(second.bias.grad, down.bias.grad)


@pytest.mark.parametrize("sequence_parallel", [True, False])
@pytest.mark.parametrize("tokens, middle, features", [(3, 2, 1), (0, 2, 1), (3, 0, 2), (4, 1, 0)])
def test_layers_with_nothing_on_some_ranks(ctx, tokens, middle, features, sequence_parallel):
    """Fewer features or tokens than ranks: of 3 ranks two have none."""
    given = {"sequence_parallel": sequence_parallel, "dtype": torch.float64, "device": WHERE}
    up, down = ptt.ColumnParallelLinear(ctx, 2, features, **given), ptt.RowParallelLinear(ctx, features, 2, **given)
    mine = pt.Layout(pt.Slab(0), (tokens,), ctx.size).local_shape(ctx.rank)[0] if sequence_parallel else tokens
    x = torch.ones(mine, middle, 2, dtype=torch.float64, device=WHERE, requires_grad=True)
    y = down(up(x, tokens=tokens))
    y.sum().backward()
    assert y.shape == x.grad.shape == (mine, middle, 2)
    if features == 0:
        close(y.detach(), down.bias.detach().expand(y.shape))


@pytest.mark.parametrize("sequence_parallel", [True, False])
@pytest.mark.parametrize("activation, with_bias", [("gelu", True), ("relu", True), ("relu", False), ("gelu", False), (None, True)])
def test_layers_with_an_activation(ctx, activation, with_bias, sequence_parallel):
    """Made with the products; beside the same by PyTorch on the whole, to the second derivative."""
    whole = [torch.nn.Linear(*sizes, bias=with_bias, dtype=torch.float64, device=WHERE) for sizes in ((6, 10), (10, 5))]
    with torch.no_grad():
        for seed, one in enumerate([one for layer in whole for one in layer.parameters()]):
            one.copy_(torch.from_numpy(drawn(one.shape, torch.float64, seed)))
    f = {"relu": torch.relu, "gelu": lambda x: torch.nn.functional.gelu(x, approximate="tanh"), None: lambda x: x}[activation]
    x = torch.from_numpy(drawn((2 * ctx.size + 1, 3, 6), torch.float64, 10)).to(WHERE).requires_grad_()
    y = f(whole[1](f(whole[0](x))))
    weight = torch.from_numpy(drawn(y.shape, torch.float64, 11)).to(WHERE)
    loss = (y * weight).sum()
    (by_x,) = torch.autograd.grad(loss, x, create_graph=True)
    (loss + (by_x**2).sum()).backward()

    rows = pt.Layout(pt.Slab(0), (len(x),), ctx.size).indices(0, ctx.rank) if sequence_parallel else np.arange(len(x))
    given = {"activation": activation, "bias": with_bias, "sequence_parallel": sequence_parallel, "dtype": torch.float64, "device": WHERE}
    layers = ptt.ColumnParallelLinear(ctx, 6, 10, **given), ptt.RowParallelLinear(ctx, 10, 5, **given)
    for one, of_whole in zip(layers, whole):
        one.take(of_whole)
    mine = x.detach()[rows].clone().requires_grad_()
    found = layers[1](layers[0](mine, len(x)))
    close(found.detach(), y.detach()[rows])
    with torch.no_grad():  # where what gelu was made of is not kept
        close(layers[1](layers[0](mine, len(x))), y.detach()[rows])
    loss = (found * weight[rows]).sum()
    (by_mine,) = torch.autograd.grad(loss, mine, create_graph=True)
    close(by_mine.detach(), by_x.detach()[rows])
    if not sequence_parallel:  # what is the same on all ranks counts once there
        return
    (loss + (by_mine**2).sum()).backward()
    close(mine.grad, x.grad[rows])
    columns = torch.as_tensor(layers[0].layout.indices(0, ctx.rank))
    close(layers[0].weight.grad, whole[0].weight.grad[columns])
    close(layers[1].weight.grad, whole[1].weight.grad[:, columns])
    for one, other, own in zip(layers, whole, (columns, slice(None))):
        if with_bias:
            close(one.bias.grad, other.bias.grad[own])


def test_products_with_an_epilogue(ctx):
    """In any distributions; of the bias a rank's gradient is a share."""
    a, b, bias = (torch.from_numpy(drawn(shape, torch.float64, seed)) for seed, shape in enumerate([(7, 5), (6, 5), (6,)]))
    weight = torch.from_numpy(drawn((7, 6), torch.float64, 5))
    wanted = [one.clone().requires_grad_() for one in (a, b, bias)]
    result = torch.nn.functional.gelu(wanted[0] @ wanted[1].T + wanted[2], approximate="tanh")
    (result * weight).sum().backward()
    for number, rule in enumerate(rules(ctx.size)):
        layout_a, layout_b = (pt.Layout(one, shape, ctx.size) for one, shape in ((rule, (7, 5)), (pt.Slab(1), (6, 5))))
        to = pt.Layout(rules(ctx.size)[-1 - number], (7, 6), ctx.size)
        own = [torch.from_numpy(part(one.numpy(), layout, ctx.rank).copy()).to(WHERE).requires_grad_() for one, layout in ((a, layout_a), (b, layout_b))]
        mine = bias.clone().to(WHERE).requires_grad_()
        found = ptt.matmul(ctx, *own, layout_a, layout_b, to, transpose_b=True, bias=mine, activation="gelu")
        close(found.detach(), torch.from_numpy(part(result.detach().numpy(), to, ctx.rank)))
        if to.is_replicated or layout_a.is_replicated:
            continue
        (found * torch.from_numpy(part(weight.numpy(), to, ctx.rank).copy()).to(WHERE)).sum().backward()
        close(pt.all_reduce(ctx, mine.grad), wanted[2].grad)
        close(own[0].grad, torch.from_numpy(part(wanted[0].grad.numpy(), layout_a, ctx.rank)))
        close(own[1].grad, torch.from_numpy(part(wanted[1].grad.numpy(), layout_b, ctx.rank)))
    layout = pt.Layout(pt.Slab(0), (6, 6), ctx.size)
    square = torch.zeros(layout.local_shape(ctx.rank), device=WHERE)
    for wrong in ({"activation": "selu"}, {"bias": torch.zeros(5, device=WHERE)}, {"bias": torch.zeros(6, dtype=torch.float64, device=WHERE)}):
        with pytest.raises(pt.ArgumentError, match="activation|the bias has"):
            ptt.matmul(ctx, square, square, layout, layout, **wrong)
    with pytest.raises(pt.ArgumentError, match="activation 'selu'"):
        ptt.ColumnParallelLinear(ctx, 6, 6, activation="selu")
    with pytest.raises(pt.ArgumentError, match="tokens are torch.float64"):
        ptt.ColumnParallelLinear(ctx, 6, 6, device=WHERE)(torch.zeros(2, 6, dtype=torch.float64, device=WHERE))


def test_layers_begin_without_memory(ctx):
    """On the device `meta`, by name or as the default; all ranks are asked for numbers then."""
    for kind in (ptt.ColumnParallelLinear, ptt.RowParallelLinear):
        layer = kind(ctx, 3 * ctx.size, 2 * ctx.size, device="meta")
        assert all(one.is_meta for one in layer.parameters())
        layer.to_empty(device=WHERE)
        for one in layer.parameters():
            one.data.fill_(7)
        layer.reset_parameters()
        assert all((one.abs() <= 1).all() for one in layer.parameters())


def test_layers_want_rows_of_tokens(ctx):
    ctx = ctx.split(0)  # which has not made this call, so that no rank is in the midst of one
    for sequence_parallel in (True, False):
        layer = ptt.ColumnParallelLinear(ctx, 3, 4, sequence_parallel=sequence_parallel, device=WHERE)
        wrong = ctx.rank == ctx.size - 1 or not sequence_parallel  # without, forward calls are each rank's own
        x = torch.ones((3,) if wrong else (2, 3), device=WHERE)
        with pytest.raises(pt.ArgumentError, match="tokens, ..., features.*, got shape"):
            layer(x)
    ctx.barrier()


def test_layers_are_copied(ctx):
    """With their parameters, for the same ranks: as averages of weights are kept."""
    layer = ptt.ColumnParallelLinear(ctx, 4, 6, activation="gelu", device=WHERE)
    other = copy.deepcopy(layer)
    assert other.context is layer.context and other.layout == layer.layout
    x = torch.ones(2, 4, device=WHERE)
    assert torch.equal(other(x), layer(x))
    with torch.no_grad():
        other.weight.zero_()
    assert bool((layer.weight != 0).any())


def test_new_layers_have_the_same_on_all_ranks_where_they_must(ctx):
    layer = ptt.RowParallelLinear(ctx, 8, 3, device=WHERE)
    biases = pt.all_gather(ctx, layer.bias.detach()[None])
    assert all(torch.equal(one, biases[0]) for one in biases)
    if ctx.size > 1:
        first = pt.all_gather(ctx, layer.weight.detach()[:1, :1].contiguous())
        assert first.unique().numel() == ctx.size


def test_what_is_wrong_is_the_same_error_on_all_ranks(ctx):
    if ctx.size == 1:
        pytest.skip("needs ranks that differ")
    with pytest.raises(pt.DisagreementError):
        ptt.all_reduce(ctx, torch.zeros(3 + ctx.rank, device=WHERE))
    rows = pt.Layout(pt.Slab(0), (6, 4), ctx.size)
    with pytest.raises(pt.ArgumentError, match="the part has shape"):
        ptt.redistribute(ctx, torch.zeros(9, 9, device=WHERE), rows, pt.Slab(1))
    assert bool((ptt.all_reduce(ctx, torch.ones(2, device=WHERE)) == ctx.size).all())


def test_what_one_rank_passes_that_is_wrong(ctx):
    """Before the call begins: it is told, and the context goes on; in layers, too."""
    if ctx.size == 1:
        pytest.skip("one rank is all ranks")
    odd, x = ctx.size - 1, torch.ones(2 * ctx.size, 4, device=WHERE)
    rows = pt.Layout(pt.Slab(0), (6, 4), ctx.size)
    mine = torch.ones(rows.local_shape(ctx.rank), device=WHERE)

    def layer(group, *given):
        return ptt.ColumnParallelLinear(group, 4, 6, device=WHERE)(*given)

    product = (mine, mine, rows, pt.Layout(pt.Slab(0), (6, 4), ctx.size))
    for name, call, right, wrongs in (
        ("all_reduce", ptt.all_reduce, (x,), [((x,), {"op": "sum"}), ((x, "max"), {"shared": True}), (([1.0],), {})]),
        ("reduce", ptt.reduce, (x,), [((x,), {"root": 99}), ((x,), {"root": "0"})]),
        ("gather", ptt.gather, (x,), [(([1.0],), {}), ((x,), {"counts": [1]}), ((None,), {})]),
        ("reduce_scatter", ptt.reduce_scatter, (x,), [((x[1:],), {}), ((x,), {"counts": "ab"})]),
        ("all_to_all", ptt.all_to_all, (x,), [((x,), {"send_counts": [1] * ctx.size})]),
        ("redistribute", ptt.redistribute, (mine, rows, pt.Slab(1)), [((mine, rows, "slob:1"), {}), ((mine[:, 1:], rows, pt.Slab(1)), {}), ((mine, 3, pt.Slab(1)), {})]),
        ("fft", ptt.fft, (mine.cfloat(), rows), [((mine, 4), {}), ((mine.cfloat(), rows), {"axes": (7,)})]),
        ("matmul", lambda *given, **named: ptt.matmul(*given, transpose_b=True, **named), product, [((mine, mine.double(), *product[2:]), {}), (product[:3], {})]),
        ("ColumnParallelLinear", layer, (x,), [((x.double(),), {}), ((x[:, 1:],), {}), ((x, "many"), {})]),
        ("RowParallelLinear", ptt.RowParallelLinear, (6, 4), [((6, 4), {"activation": "selu"}), ((6,), {}), (("six", 4), {})]),
    ):  # fmt: skip
        for arguments, more in wrongs:
            group = ctx.split(0)  # in which nothing is planned yet: who executes what is finds out when the context has failed
            with pytest.raises(pt.ArgumentError, match=f"^rank {odd}: {name}") as caught:
                if ctx.rank == odd:
                    call(group, *arguments, **more)
                else:
                    call(group, *right)
                    group.barrier()
            assert not group.failed, (name, arguments, caught.value)
            group.barrier()
    with pytest.raises(pt.ArgumentError, match="^send_receive: rank 99"):
        ptt.send_receive(ctx, x, 99, 0)
    with pytest.raises(pt.TypeError, match="^send_receive: x: expected a tensor, got list"):
        ptt.send_receive(ctx, [1.0], 0, 0)
    assert bool((ptt.all_reduce(ctx, torch.ones(2, device=WHERE)) == ctx.size).all())


@pytest.mark.parametrize("names, count", [("layers/*ward", 2), ("dtensor-*", 3)])
def test_bench(names, count):
    run = f"from partita.bench import main; from partita.torch.bench import cases; main(['--case', '{names}', '--runs', '1'], cases)"
    (printed, code), other = started(2, "", body=run)
    assert code == 0 and printed.count("2 ranks  ours") == count and "cuda/*: skipped" in printed and other == ("", 0), (printed, other)


@pytest.mark.skipif(WHERE == "cpu", reason="there in processes of their own: test_torch_calls.py")
def test_compiled(ctx):
    if ctx.size > 1:
        pytest.skip("the compiler of ranks that are threads is one")

    def step(x):
        y = ptt.all_gather(ctx, x.sin())
        return ptt.all_reduce(ctx, y).cos().sum()

    x = numbers(ctx, (4, 3)).requires_grad_()
    (expected,) = torch.autograd.grad(step(x), x)
    (found,) = torch.autograd.grad(torch.compile(step, backend="aot_eager", fullgraph=True)(x), x)
    assert torch.allclose(found, expected)


KEYS = [np.s_[::-1], np.s_[::-2, 1::3], np.s_[5:1:-1, ::-2], np.s_[..., ::-1], np.s_[3, ::-1], np.s_[::-1, None]]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_tensors_have_no_negative_strides(ctx, key):
    x = np.arange(77.0).reshape(7, 11)
    for distribution in pt.Slab(0), pt.Slab(1):
        a = pt.from_local(ctx, torch.tensor(np.ascontiguousarray(pt.scatter(ctx, x, distribution, space="host").local)).to(WHERE), distribution)
        assert type(a[key].local) is torch.Tensor
        np.testing.assert_array_equal(a[key].copy(space="host").gather(), x[key])
        b, y = a.copy(), x.copy()
        b[key], y[key] = a[key], x[key]
        np.testing.assert_array_equal(b.copy(space="host").gather(), y)
        b[key], y[key] = 5, 5
        np.testing.assert_array_equal(b.copy(space="host").gather(), y)


def test_edges_of_bins_are_a_tensor(ctx):
    x, edges = np.arange(77.0).reshape(7, 11), np.array([3.0, 9, 40])
    a, bins = (pt.scatter(ctx, one, pt.Slab(0), space="host" if WHERE == "cpu" else "device") for one in (x, edges))
    np.testing.assert_array_equal(pt.digitize(a, bins).copy(space="host").gather(), np.digitize(x, edges))
