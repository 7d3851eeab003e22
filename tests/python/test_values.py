"""Distributions, grids, meshes, layouts: values without ranks."""

import copy
import pickle

import numpy as np
import pytest

import partita as pt


def test_equal_values_have_equal_hashes():
    pairs = [
        (pt.Slab(0), pt.parse("slab:0")),
        (pt.BlockCyclic((2, 2), (64, 32)), pt.BlockCyclic(pt.ProcessGrid((2, 2)), (64, 32))),
        (pt.BlockCyclic(pt.ProcessGrid((2, 2), ranks=[0, 1, 2, 3]), (1, 1)), pt.BlockCyclic((2, 2), (1, 1))),
        (pt.Partitioned(pt.Mesh({"x": 2}), pt.P("x")), pt.parse("mesh:x=2:x")),
        (pt.P("x", None, ("y", "z")), pt.P(["x"], (), ["y", "z"])),
        (pt.Mesh({"x": 2, "y": 3}), pt.Mesh({"x": 2, "y": 3})),
        (pt.Box([((0,), (3,)), ((3,), (5,))]), pt.Box.from_cuts([[0, 3, 5]])),
        (pt.Replicated(), pt.parse("replicated")),
        (pt.Layout(pt.Slab(0), (5,), 2), pt.Layout(pt.parse("slab:0"), [5], 2)),
        (pt.Layout(pt.Slab(0), (5,), 2), pt.Layout("slab:0", (5,), ranks=2)),
        (pt.Topology(4, 2), pt.Topology(4, 2)),
    ]
    for a, b in pairs:
        assert a == b and hash(a) == hash(b) and len({a, b}) == 1


def test_different_values_differ():
    values = [pt.Slab(0), pt.Slab(1), pt.Replicated(), pt.BlockCyclic((1, 2), (3, 3)), pt.P("x"), pt.P("x", partial="y")]
    assert len(set(values)) == len(values)
    assert pt.Slab(0) != 0 and pt.Slab(0) != "slab:0"
    assert pt.Topology(4, 2) != pt.Topology(4) and pt.Topology(4) != 4
    assert pt.Mesh({"x": 2}) != pt.Mesh({"x": 2}, ranks=[1, 0])


@pytest.mark.parametrize(
    "text", ["slab:1", "block-cyclic:2x2:128x128", "block-noncyclic:4x1", "replicated", "mesh:x=2,y=2:x,-", "box:0-4;4-8"]
)
def test_texts(text):
    assert str(pt.parse(text)) == text
    assert eval(repr(pt.parse(text)), {"parse": pt.parse}) == pt.parse(text)


def test_specs_and_meshes_are_shown_as_they_are_written():
    for text in ["P('x', None, ('y', 'z'))", "P(None, partial='x', reduction='max')", "P('x', uneven='balanced')", "P()"]:
        assert repr(eval(text, {"P": pt.P})) == text
    for text in ["Mesh({'x': 2, 'y': 3})", "Mesh({'x': 2}, ranks=[1, 0])"]:
        assert repr(eval(text, {"Mesh": pt.Mesh})) == text


def test_values_travel():
    grids = [pt.ProcessGrid((2, 3)), pt.ProcessGrid((2, 2), "F"), pt.ProcessGrid((2, 2), "C", (1, 0)), pt.ProcessGrid((2, 2), ranks=[3, 1, 2, 0])]
    mesh = pt.Mesh({"x": 2, "y": 2}, ranks=[3, 1, 2, 0])
    spec = pt.P("x", None, ("y", "z"), partial="w", reduction="max", uneven="balanced")
    rules = [pt.Slab(1), pt.Replicated(), pt.Box.from_cuts([[0, 3, 8], [0, 5]]), pt.Partitioned(mesh, pt.P("x", partial="y"))]
    rules += [kind(grid, *block) for grid in grids for kind, block in ((pt.BlockCyclic, [(3, 4)]), (pt.BlockNonCyclic, []))]
    layouts = [pt.Layout(rule, (8, 5), 6) for rule in rules[:2]] + [pt.Layout(pt.Slab(0), (10, 7), 3).permuted([1, 0])]
    topologies = [pt.Topology(6), pt.Topology(6, 2), pt.Topology(7, 3), pt.Topology(1)]
    for value in [*topologies, *grids, mesh, pt.Mesh({"x": 2}), spec, pt.P(), pt.P(None, "x"), *rules, *layouts]:
        for there in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy([value])[0]):
            assert there == value and repr(there) == repr(value)
    with pytest.raises(TypeError, match="window"):
        pickle.dumps(pt.Layout(pt.Slab(0), (10, 7), 3).window((1, 0), (5, 7)))


def test_topologies_are_shown():
    assert repr(pt.Topology(4, 2)) == "Topology<4 ranks on 2 nodes>" and str(pt.Topology(3)) == "Topology<3 ranks on 1 node>"


def test_layouts_say_who_has_what():
    layout = pt.Layout(pt.BlockCyclic((2, 2), (2, 3)), (8, 10), 4)
    owner = np.array([[2 * (i // 2 % 2) + j // 3 % 2 for j in range(10)] for i in range(8)])
    for rank in range(4):
        rows, columns = np.nonzero(owner == rank)
        assert layout.local_shape(rank) == (len(set(rows)), len(set(columns)))
        assert layout.indices(0, rank).tolist() == sorted(set(rows))
        assert layout.indices(1, rank).dtype == np.int64
    assert layout.owner((6, 9)) == owner[6, 9] and layout.owners((6, 9)) == [owner[6, 9]]
    assert layout.to_local(3, (6, 9)) == (2, 3) and layout.to_global(3, (2, 3)) == (6, 9)
    assert layout.to_local(0, (6, 9)) is None
    assert pt.Layout(pt.Replicated(), (3,), 2).is_replicated
    assert pt.Layout(pt.parse("mesh:x=2:-;partial=max:x"), (3,), 2).partial == "max"


def test_bad_values_are_refused():
    with pytest.raises(pt.ArgumentError, match="slub"):
        pt.parse("slub:0")
    with pytest.raises(pt.ArgumentError, match="cover|hole|own"):
        pt.Layout(pt.Box([((0,), (3,))]), (5,), 1)
    with pytest.raises(pt.ArgumentError, match="known: ceil, balanced"):
        pt.P("x", uneven="odd")
    with pytest.raises(pt.ArgumentError):
        pt.ProcessGrid((0, 2))
    with pytest.raises(TypeError):
        pt.Slab("0")
    for axes in ({"x": "2"}, {2: 2}, {"x": None}, {"x": 2.5}):
        with pytest.raises(TypeError):
            pt.Mesh(axes)


def test_the_mesh_of_a_block():
    outer, inner = pt.Mesh({"x": 2}), pt.Mesh({"y": 2})
    assert pt.current_mesh() is None
    with outer:
        with inner:
            assert pt.current_mesh() == inner
        assert pt.current_mesh() == outer
    assert pt.current_mesh() is None


def test_errors_are_one_family_and_pythons_own():
    assert issubclass(pt.ArgumentError, (pt.Error, ValueError)) and issubclass(pt.DisagreementError, pt.ArgumentError)
    for ours, theirs in [(pt.TimeoutError, TimeoutError), (pt.FileError, OSError), (pt.MemoryError, MemoryError)]:
        assert issubclass(ours, theirs) and issubclass(ours, pt.Error)
