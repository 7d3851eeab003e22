"""Files, beside what NumPy reads and writes."""

import os

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
    with pytest.raises(TypeError, match="attribute 'unit': expected a string, a number or a sequence of numbers, got None"):
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


def test_integers_in_attributes_stay_what_they_are(ctx, folder):
    """As long as 64 bits hold them; nothing is rounded without a word."""
    path, a = folder / "seeds.h5", pt.zeros(ctx, (3,), "slab:0")
    for value in (np.uint64(2**63 + 1025), 2**64 - 1, np.array([2**64 - 1, 1], "u8"), [2**53 + 1, 2**63], -(2**63), [-1, 2**63 - 1], True):
        pt.io.write_hdf5(path, "d", a, truncate=True, attributes={"seed": value})
        found = pt.io.read_hdf5_attributes(path, "d")["seed"]
        assert np.array_equal(np.asarray(found, object), np.asarray(value, object)), (value, found)
        assert isinstance(found, int) or all(isinstance(one, int) for one in found)
        ctx.barrier()
    for value in (2**64, -(2**63) - 1, [-1, 2**63], [0.5, 2**53 + 1]):
        with pytest.raises(pt.ArgumentError, match=r"the attribute 'seed': -?\d+ is not representable in"):
            pt.io.write_hdf5_attributes(ctx, path, "d", {"seed": value})


def test_attributes_that_are_not_read_are_listed(ctx, folder):
    h5py = pytest.importorskip("h5py")
    path = folder / "unread.h5"
    pt.io.write_hdf5(path, pt.full(ctx, (4,), "slab:0", 2.0))
    assert sorted(pt.io.list_hdf5(path)) == ["data"]
    ctx.barrier()
    if ctx.rank == 0:
        with h5py.File(path, "r+") as file:
            file["data"].attrs.update({"matrix": np.ones((2, 2)), "texts": ["a", "b"], "flag": True, "nothing": h5py.Empty("f8"), "n": 3})
            file["data"].attrs.create("latin", np.bytes_("größer".encode("latin-1")))
    ctx.barrier()
    found = pt.io.read_hdf5_attributes(path, "data")
    assert found.pop("n") == 3 and found.pop("latin").encode("utf-8", "surrogateescape") == "größer".encode("latin-1")
    assert {name: one.what for name, one in found.items()} == {
        "matrix": "an array of 2 dimensions of floating-point numbers of 8 bytes", "texts": "a vector of texts", "flag": "an enumeration",
        "nothing": "empty (H5S_NULL)",
    }  # fmt: skip
    with pytest.raises(pt.ArgumentError, match="\"flag\" was not read .an enumeration. and cannot be written"):
        pt.io.write_hdf5_attributes(ctx, path, "data", found)
    ctx.barrier()


def test_booleans_of_any_byte(ctx, folder):
    """In files all but 0 is true, and so it is in memory of others."""
    wild = np.array([2, 0, 255, 1], "u1").view(bool)
    if ctx.rank == 0:
        np.save(folder / "wild.npy", wild)
    pt.io.write_hdf5(folder / "wild.h5", pt.full(ctx, (4,), "slab:0", True))
    h5py = pytest.importorskip("h5py")
    if ctx.rank == 0:
        with h5py.File(folder / "wild.h5") as file:
            place = file["data"].id.get_offset()
        with open(folder / "wild.h5", "r+b") as raw:
            raw.seek(place)
            raw.write(wild.tobytes())
    ctx.barrier()
    for a in (pt.io.read_npy(ctx, folder / "wild.npy", "replicated"), pt.io.read_hdf5(ctx, folder / "wild.h5", "data", "replicated")):
        assert (a.local.view("u1") == [1, 0, 1, 1]).all() and a.sum() == 3
    theirs = pt.from_local(ctx, wild, "replicated")
    assert theirs.sum() == 3 and theirs.mean() == 0.75 and theirs.astype("int32").sum() == 3 and pt.norm(theirs) == 3**0.5
    ctx.barrier()


def test_paths_that_are_not_utf8(ctx, folder):
    """Names of files are bytes."""
    for path in (bytes(folder) + b"/caf\xe9.npy", str(folder) + "/caf\udce9-2.npy", bytes(folder) + b"/caf\xe9.h5"):
        a, is_npy = spread(ctx, whole((5, 3)), pt.Slab(0)), os.fsencode(path).endswith(b"npy")
        pt.io.write_npy(path, a) if is_npy else pt.io.write_hdf5(path, a)
        back = pt.io.read_npy(ctx, path, "slab:1") if is_npy else pt.io.read_hdf5(ctx, path, "data", "slab:1")
        assert (back.gather() == whole((5, 3))).all() and os.path.exists(path)
        assert is_npy or (sorted(pt.io.list_hdf5(path)) == ["data"] and pt.io.read_hdf5_attributes(path, "data") == {})
    with pytest.raises(pt.FileError, match=r"caf\\xe9/none.npy: cannot open the file"):
        pt.io.read_npy(ctx, bytes(folder) + b"/caf\xe9/none.npy", "slab:0")
    ctx.barrier()


def test_hdf5_of_several_is_all_or_nothing(ctx, folder):
    path = folder / "nothing.h5"
    a = spread(ctx, whole((4, 4)), pt.Slab(0))
    pt.io.write_hdf5(path, {"a": a})
    for wrong, what in (
        ({"b": a, "c": pt.io.Dataset(a, chunks=(9, 9))}, "do not fit"),
        ({"b": a, "./b": a}, "a second time"),
        ({"b": a, "c": a.local}, "a distributed array"),
        ({"b": pt.io.Dataset(a, attributes={"x": None})}, "the attribute 'x': expected a string"),
        ({"b": pt.io.Dataset(a, attributes={"x": 2**64})}, "the attribute 'x': 18446744073709551616 is not representable in 64 bits"),
        ({"b": pt.io.Dataset(a, compression=11)}, "0 to 9"),
        ({"b": pt.io.Dataset(a, compression="lzf")}, "compression: expected int, got str"),
        ({"b": pt.io.Dataset(a, chunks=(2.5, 2))}, r"chunks: expected an integer or a sequence of integers, got \(2.5, 2\)"),
        ({3: a}, "name: expected str, got int"),
        ({}, "no array is given"),
        ("b", "a distributed array"),
    ):
        with pytest.raises(pt.ArgumentError, match=what):
            pt.io.write_hdf5(path, wrong)
    with pytest.raises(pt.TypeError, match="an array needs one name"):
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
    with pytest.raises(pt.ArgumentError, match="need chunks"):
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
