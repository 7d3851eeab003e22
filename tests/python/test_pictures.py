"""What notebooks show of values."""

import xml.etree.ElementTree

import pytest

import partita as pt

VALUES = [
    pt.Slab(0),
    pt.Slab(3),
    pt.Replicated(),
    pt.BlockCyclic((2, 3), (4, 2)),
    pt.BlockCyclic((2,), (3,)),
    pt.BlockNonCyclic((2, 2)),
    pt.BlockNonCyclic((2, 2, 2), (3, 3, 3)),
    pt.Box.from_cuts([[0, 3, 8], [0, 5]]),
    pt.Mesh({"x": 2}),
    pt.Mesh({"x": 2, "y": 2, "z": 2}),
    pt.Mesh({"x": 2, "y": 2}, ranks=[3, 2, 1, 0]),
    pt.Partitioned(pt.Mesh({"x": 2, "y": 2}), pt.P(("x", "y"), None)),
    pt.Partitioned(pt.Mesh({"x": 2, "y": 2}), pt.P("x", partial="y")),
    pt.P("x", None, ("y", "z")),
    pt.P(None, partial="x"),
    pt.ProcessGrid((2, 4), order="F"),
    pt.Layout(pt.Slab(0), (1000, 0), 7),
    pt.Layout(pt.BlockCyclic((2, 2), (64, 64)), (5000, 3000), 4),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_values_have_pictures(value):
    root = xml.etree.ElementTree.fromstring(value._repr_svg_())
    assert root.tag.endswith("svg") and any(one.tag.endswith("rect") for one in root.iter())


def test_one_number_is_shown_as_text():
    assert pt.Layout(pt.Replicated(), (), 3)._repr_svg_() is None


def test_arrays_show_their_layout(ctx):
    a = pt.zeros(ctx, (4, 4), pt.Slab(0))
    assert a._repr_svg_() == a.layout._repr_svg_() and "4x4 slab:0" in a._repr_svg_()
