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
    pt.io.write_npy(bytes(path), spread(ctx, whole((2, 2)), pt.Slab(0)))
    assert pt.io.inspect_npy(bytes(path)).shape == (2, 2)
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


def test_hdf5_of_several(ctx, folder):
    """Together, each in its own way; what else is in the file stays."""
    path = folder / "several.h5"
    a, b, scalar = spread(ctx, whole((6, 8)), pt.Slab(1)), spread(ctx, whole((5, 3), "int16"), pt.Slab(0)), pt.full(ctx, (), pt.Replicated(), 2.5)
    pt.io.write_hdf5(path, "kept", a)
    datasets = {"flow/u": a, "flow/v": pt.io.Dataset(b, chunks=(2, 3), shuffle=True, attributes={"unit": "m/s"}), "one": scalar}
    pt.io.write_hdf5(path, datasets, attributes={"step": np.int64(7)})
    found = pt.io.list_hdf5(path)
    assert sorted(found) == ["flow", "flow/u", "flow/v", "kept", "one"] and found["one"] == ((), "float64", "C")
    assert found["flow/u"].chunks == () and found["flow/v"].chunks == (2, 3) and found["flow/v"] == ((5, 3), "int16", "C")
    assert pt.io.read_hdf5_attributes(path, "flow/u") == {"step": 7} == pt.io.read_hdf5_attributes(path, "one")
    assert pt.io.read_hdf5_attributes(path, "flow/v") == {"unit": "m/s"}
    for name, array in (("kept", a), ("flow/u", a), ("flow/v", b)):
        assert (pt.io.read_hdf5(ctx, path, name, pt.Slab(0)).gather() == array.gather()).all()
    assert pt.io.read_hdf5(ctx, path, "one", pt.Replicated()).gather() == 2.5
    pt.io.write_hdf5(path, {"u": a, "v": a.T}, truncate=True, compression="gzip")
    assert sorted(pt.io.list_hdf5(path)) == ["u", "v"]
    assert (pt.io.read_hdf5(ctx, path, "v", pt.Slab(0)).gather() == a.gather().T).all()
    ctx.barrier()


def test_hdf5_of_several_is_all_or_nothing(ctx, folder):
    path = folder / "nothing.h5"
    a = spread(ctx, whole((4, 4)), pt.Slab(0))
    pt.io.write_hdf5(path, {"a": a})
    for wrong, what in (
        ({"b": a, "c": pt.io.Dataset(a, chunks=(9, 9))}, "do not fit"),
        ({"b": a, "./b": a}, "a second time"),
        ({"b": a, "c": a.local}, "a distributed array"),
        ({"b": pt.io.Dataset(a, attributes={"x": None})}, "incompatible"),
        ({"b": pt.io.Dataset(a, compression=11)}, "0 to 9"),
        ({"b": pt.io.Dataset(a, compression="lzf")}, "incompatible"),
        ({"b": pt.io.Dataset(a, chunks=(2.5, 2))}, "incompatible"),
        ({3: a}, "incompatible"),
        ({}, "no array is given"),
        ("b", "a distributed array"),
    ):
        with pytest.raises(pt.ArgumentError, match=what):
            pt.io.write_hdf5(path, wrong)
    with pytest.raises(pt.TypeError, match="an array goes with one name"):
        pt.io.write_hdf5(path, {"b": a}, a)
    assert sorted(pt.io.list_hdf5(path)) == ["a"]
    if ctx.size > 1:
        with pytest.raises(pt.ArgumentError, match="^rank 0: write_hdf5: .*do not fit"):
            pt.io.write_hdf5(path, {"b": a, "c": pt.io.Dataset(a, chunks=(9, 9) if ctx.rank == 0 else (2, 2))})
        with pytest.raises(pt.DisagreementError):
            pt.io.write_hdf5(path, {"b": a, f"c{ctx.rank}": a})
        with pytest.raises(pt.ArgumentError):
            pt.io.write_hdf5(path, {"b": [1, 2]} if ctx.rank == 0 else {"b": a})
    assert sorted(pt.io.list_hdf5(path)) == ["a"]
    ctx.barrier()


def test_hdf5_chunks(ctx, folder):
    """In h5py's words: one number, True, and what is compressed is in chunks."""
    path, kept = folder / "chunks.h5", pt.zeros(ctx, (10,), pt.Slab(0))
    large, empty = pt.zeros(ctx, (700, 3, 300), pt.Slab(0)), pt.zeros(ctx, (0, 4), pt.Slab(1))
    pt.io.write_hdf5(path, "number", kept, chunks=3)
    pt.io.write_hdf5(path, "numbers", kept, chunks=np.array([4]))
    pt.io.write_hdf5(path, {"chosen": large, "small": kept, "empty": empty}, chunks=True)
    pt.io.write_hdf5(path, {"packed": large, "plain": pt.io.Dataset(large, compression=0)}, compression=1)
    pt.io.write_hdf5(path, "shuffled", kept, shuffle=True)
    chunks = {name: header.chunks for name, header in pt.io.list_hdf5(path).items()}
    assert chunks == {
        "number": (3,), "numbers": (4,), "chosen": (350, 2, 150), "small": (10,), "empty": (1, 4), "packed": (350, 2, 150), "plain": (),
        "shuffled": (10,),
    }  # fmt: skip
    with pytest.raises(pt.ArgumentError, match="are of chunks"):
        pt.io.write_hdf5(path, "number", kept, chunks=(), compression=3)
    ctx.barrier()


def test_hdf5_beside_h5py(ctx, folder):
    """What h5py reads of ours, and we of its."""
    h5py = pytest.importorskip("h5py")
    path = folder / "beside.h5"
    real, several = whole((6, 8)), {"unit": "m", "step": 3, "origin": [1, 2], "spacing": (0.5, 0.25)}
    arrays = {f"flow/{dtype}": spread(ctx, whole((6, 8), dtype), pt.Slab(1)) for dtype in ("float64", "float32", "complex64", "int16", "uint8")}
    packed = pt.io.Dataset(spread(ctx, real, pt.Slab(0)), chunks=(3, 4), compression=9, shuffle=True, attributes=several)
    pt.io.write_hdf5(path, {**arrays, "packed": packed})
    pt.io.write_hdf5_attributes(ctx, path, "flow", {"time": 0.5})
    wanted = {name: array.gather() for name, array in arrays.items()}
    if ctx.rank == 0:
        with h5py.File(path, "r+") as file:
            for name, values in wanted.items():
                assert file[name].dtype == values.dtype and (file[name][...] == values).all() and file[name].chunks is None
            one = file["packed"]
            assert (one[...] == real).all() and (one.chunks, one.compression, one.compression_opts, one.shuffle) == ((3, 4), "gzip", 9, True)
            assert one.attrs["unit"] == "m" and one.attrs["step"] == 3 and list(one.attrs["origin"]) == [1, 2] and list(one.attrs["spacing"]) == [0.5, 0.25]
            assert file["flow"].attrs["time"] == 0.5
            theirs = file.create_dataset("theirs/x", data=whole((9, 5), "complex128"), chunks=True, compression="gzip", shuffle=True)
            theirs.attrs["by"] = "h5py"
            file.create_dataset("theirs/big", data=whole((4,), ">f4"))
    ctx.barrier()
    assert (pt.io.read_hdf5(ctx, path, "theirs/x", pt.Slab(1)).gather() == whole((9, 5), "complex128")).all()
    assert (pt.io.read_hdf5(ctx, path, "theirs/big", pt.Slab(0)).gather() == whole((4,), "float32")).all()
    assert pt.io.read_hdf5_attributes(path, "theirs/x") == {"by": "h5py"}
    ctx.barrier()
