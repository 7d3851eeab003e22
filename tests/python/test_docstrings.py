"""help() of each public function names all its parameters, and says whether the call is collective or local. No ranks."""

import dataclasses
import importlib
import inspect
import re

import pytest

import partita as pt
from partita import array_api


def modules():
    yield from (pt, pt.fft, pt.io, pt.linalg, pt.plans, pt.ranks, pt.spectral, pt.trace)
    for name, needed in (("partita.jax", "jax"), ("partita.jax.linalg", "jax"), ("partita.torch", "torch"), ("partita.torch.linalg", "torch")):
        if importlib.util.find_spec(needed) is not None:
            yield importlib.import_module(name)


def is_record(one):
    """Its fields have docstrings of their own, or names that say enough."""
    return inspect.isclass(one) and (dataclasses.is_dataclass(one) or issubclass(one, (tuple, BaseException)))


def public(one, name):
    yield name, one
    if inspect.isclass(one) and one.__module__.startswith("partita."):
        for method, member in vars(one).items():
            if not method.startswith("_") and inspect.isfunction(member):
                yield f"{name}.{method}", member


#: Made by functions: help() is about what they have, not about their creation.
MADE_BY_FUNCTIONS = (pt.Array, pt.Context, pt.ranks.Handle, pt.plans.Planned, pt.trace.Timeline)

DOCUMENTED = [
    pytest.param(one, id=f"{module.__name__}.{name}")
    for module in modules()
    for exported in module.__all__
    if callable(getattr(module, exported)) and not is_record(getattr(module, exported))
    for name, one in public(getattr(module, exported), exported)
]


def parameters(one):
    if one in MADE_BY_FUNCTIONS:
        return []
    try:
        return [name for name in inspect.signature(one).parameters if name != "self"]
    except ValueError:  # compiled
        return []


@pytest.mark.parametrize("one", DOCUMENTED)
def test_parameters(one):
    text = inspect.getdoc(one)
    assert text
    missing = [name for name in parameters(one) if not re.search(rf"(?<!\w){name}(?!\w)", text)]
    assert not missing, text


@pytest.mark.parametrize("one", DOCUMENTED)
def test_described_parameters_exist(one):
    section = re.search(r"^Parameters\n-+\n((?:.*\n?)*?)(?=^[A-Z]\w+\n-+\n|\Z)", inspect.getdoc(one), re.M)
    described = re.findall(r"^(\S.*?)(?: : .*)?$", section[1] if section else "", re.M)
    names = [name.strip(" *") for entry in described for name in entry.split(",")]
    signature = parameters(one)
    assert not signature or set(names) <= set(signature), names


#: Functions of the standard, whose parameters it describes.
OF_THE_STANDARD = [
    pytest.param(getattr(module, name), id=f"{module.__name__}.{name}")
    for module in (array_api, array_api.fft, array_api.linalg)
    for name in module.__all__
]


@pytest.mark.parametrize("one", [one for one in DOCUMENTED + OF_THE_STANDARD if inspect.isfunction(one.values[0])])
def test_says_who_calls(one):
    assert re.search(r"\b(Collective|Not collective|Local|Blocking)\b", inspect.getdoc(one))
