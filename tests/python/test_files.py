"""Files, beside what NumPy reads and writes."""

import numpy as np
import pytest
from shapes import rules, spread, whole

import partita as pt


def test_npy(ctx, folder):
    for rule in rules(ctx.size):
        for order in "CF":
            path = folder / "a.npy"
            pt.io.write_npy(path, spread(ctx, whole((5, 7)), rule), order=order)
            ctx.barrier()
            assert (np.load(path) == whole((5, 7))).all() and np.isfortran(np.load(path)) == (order == "F")
            assert pt.io.inspect_npy(str(path)) == ((5, 7), "float64", order)
            assert (pt.io.read_npy(ctx, path, rule).gather() == whole((5, 7))).all()
            ctx.barrier()
    with pytest.raises(pt.FileError, match="no.npy"):
        pt.io.read_npy(ctx, folder / "no.npy", pt.Slab(0))


def test_hdf5(ctx, folder):
    path = folder / "a.h5"
    a = spread(ctx, whole((6, 8), "complex64"), pt.Slab(1))
    attributes = {"unit": "m", "step": 3, "time": 0.5, "origin": [1, 2], "spacing": (0.5, 0.25)}
    pt.io.write_hdf5(path, "fields/a", a, attributes=attributes)
    pt.io.write_hdf5(path, "fields/b", a, chunks=(3, 4), compression=4, shuffle=True)
    assert pt.io.inspect_hdf5(path, "fields/b") == ((6, 8), "complex64", "C")
    found = pt.io.list_hdf5(path)
    assert sorted(found) == ["fields", "fields/a", "fields/b"] and found["fields"] is None and found["fields/a"].shape == (6, 8)
    read = pt.io.read_hdf5_attributes(path, "fields/a")
    assert read["unit"] == "m" and read["step"] == 3 and read["time"] == 0.5 and list(read["spacing"]) == [0.5, 0.25]
    assert (pt.io.read_hdf5(ctx, path, "fields/b", pt.Slab(0)).gather() == a.gather()).all()
    later = {"step": 4, "times": np.array([0.5, 1.5]), "count": np.int32(7), "by": "both", "scale": np.float32(0.25), "pair": (1, 2)}
    for name in ("fields/a", "fields", "/"):
        pt.io.write_hdf5_attributes(ctx, path, name, later)
        read = pt.io.read_hdf5_attributes(path, name)
        assert read["step"] == 4 and list(read["times"]) == [0.5, 1.5] and read["count"] == 7 and read["by"] == "both"
        assert read["scale"] == 0.25 and list(read["pair"]) == [1, 2] and read.get("unit") == ("m" if name == "fields/a" else None)
    assert (pt.io.read_hdf5(ctx, path, "fields/a", pt.Slab(0)).gather() == a.gather()).all()
    with pytest.raises(pt.FileError, match="fields/a"):
        pt.io.write_hdf5_attributes(ctx, path, "fields/c", later)
    with pytest.raises(TypeError):
        pt.io.write_hdf5_attributes(ctx, path, "fields/a", {"unit": None})
    if ctx.size > 1:
        with pytest.raises(pt.DisagreementError):
            pt.io.write_hdf5_attributes(ctx, path, "fields/a", {"step": ctx.rank})
    with pytest.raises(pt.FileError, match="fields/a"):
        pt.io.read_hdf5(ctx, path, "fields/c", pt.Slab(0))
