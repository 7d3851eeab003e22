"""Orthogonalized matrices, compared with the same iteration of the whole, and with the polar factor."""

import numpy as np
import pytest
from conftest import DEVICE
from shapes import part, rules

import partita as pt

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import partita.torch as ptt  # noqa: E402

MUON = (3.4445, -4.7750, 2.0315)
CONVERGING = (15 / 8, -10 / 8, 3 / 8)


def iterated(x, steps, coefficients, eps=1e-7):
    """As Muon does it, of the whole matrix."""
    a, b, c = coefficients
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.mT if x.shape[0] <= x.shape[1] else x.mT @ x
        polynomial = b * gram + c * gram @ gram
        x = a * x + (polynomial @ x if x.shape[0] <= x.shape[1] else x @ polynomial)
    return x


def matrix(m, n, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(m + n).standard_normal((m, n))).to(dtype)


def mine(whole, layout, ctx):
    return torch.from_numpy(part(whole.numpy(), layout, ctx.rank).copy()).to(DEVICE)


@pytest.mark.parametrize("shape", [(5, 11), (11, 5), (7, 7), (1, 6), (9, 1), (0, 4)])
def test_every_distribution(ctx, shape):
    whole = matrix(*shape)
    expected = iterated(whole, 5, MUON)
    for number, rule in enumerate(rules(ctx.size)):
        layout, to = pt.Layout(rule, shape, ctx.size), pt.Layout(rules(ctx.size)[number - 2], shape, ctx.size)
        given = mine(whole, layout, ctx)
        before = given.clone()
        found = ptt.orthogonalize(ctx, given, layout, to, dtype=None)
        torch.testing.assert_close(found, mine(expected, to, ctx), rtol=1e-9, atol=1e-9)
        assert torch.equal(given, before)


def test_the_polar_factor(ctx):
    whole = matrix(6, 13)
    u, _, vh = torch.linalg.svd(whole, full_matrices=False)
    layout = pt.Layout(pt.Slab(0), whole.shape, ctx.size)
    found = ptt.orthogonalize(ctx, mine(whole, layout, ctx), layout, steps=30, coefficients=CONVERGING, dtype=None)
    torch.testing.assert_close(found, mine(u @ vh, layout, ctx), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shape", [(32, 80), (80, 32)])
def test_bfloat16(ctx, shape):
    """Singular values come near 1, and the result has the dtype of the operand."""
    whole = matrix(*shape, torch.float32)
    layout = pt.Layout(pt.Slab(1), shape, ctx.size)
    found = ptt.orthogonalize(ctx, mine(whole, layout, ctx), layout)
    assert found.dtype == torch.float32
    values = torch.linalg.svdvals(ptt.redistribute(ctx, found, layout, pt.Replicated()).cpu())
    assert 0.6 < values.min() and values.max() < 1.3
    muon = pytest.importorskip("torch.optim._muon", reason="PyTorch has no Muon")
    theirs = muon._zeropower_via_newtonschulz(whole, MUON, 5, 1e-7).float()
    expected = mine(theirs, layout, ctx)
    assert (found - expected).norm() <= 0.05 * expected.norm()


def test_nothing(ctx):
    layout = pt.Layout(pt.Slab(0), (4, 6), ctx.size)
    x = torch.zeros(layout.local_shape(ctx.rank), device=DEVICE, requires_grad=True)
    found = ptt.orthogonalize(ctx, x, layout)
    assert not found.any() and not found.requires_grad
    assert torch.equal(ptt.orthogonalize(ctx, x, layout, steps=0), x.detach())


def test_what_is_refused(ctx):
    layout = pt.Layout(pt.Slab(0), (4, 6), ctx.size)
    x = torch.ones(layout.local_shape(ctx.rank), device=DEVICE)
    for wrong in ({"steps": -1}, {"coefficients": (1.0, 2.0)}):
        with pytest.raises(pt.ArgumentError, match="orthogonalize"):
            ptt.orthogonalize(ctx, x, layout, **wrong)
    with pytest.raises(pt.ArgumentError, match="real"):
        ptt.orthogonalize(ctx, x.to(torch.complex64), layout)
    with pytest.raises(pt.ArgumentError, match="matrix"):
        ptt.orthogonalize(ctx, x[0], pt.Layout(pt.Replicated(), (6,), ctx.size))
