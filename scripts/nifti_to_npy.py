#!/usr/bin/env python3
"""Converts a NIfTI-1 volume to .npy, with the standard library alone.

    nifti_to_npy.py VOLUME.nii[.gz] OUT.npy
    nifti_to_npy.py ARCHIVE.zip|.whl MEMBER OUT.npy

The values stay as they are stored (no scaling). NIfTI's first index runs fastest, so the .npy is in Fortran order.
"""

import gzip
import os
import struct
import sys
import zipfile
import zlib

# NIfTI-1 datatype code -> NumPy type code without byte order, bytes of one element
DTYPES = {2: ("u1", 1), 4: ("i2", 2), 8: ("i4", 4), 16: ("f4", 4), 32: ("c8", 8), 64: ("f8", 8), 256: ("i1", 1),
          512: ("u2", 2), 768: ("u4", 4), 1024: ("i8", 8), 1280: ("u8", 8), 1792: ("c16", 16)}
HEADER_BYTES = 348


def parse_header(volume):
    """Shape, NumPy dtype text, bytes of one element, and where the voxels begin."""
    for order in "<>":
        if len(volume) >= HEADER_BYTES and struct.unpack_from(order + "i", volume, 0)[0] == HEADER_BYTES:
            break
    else:
        raise ValueError("not a NIfTI-1 file: the header does not begin with 348")
    if volume[344:347] != b"n+1":
        raise ValueError("not a single-file NIfTI-1 volume (magic %r)" % volume[344:348])
    dimensions = struct.unpack_from(order + "8h", volume, 40)
    if not 1 <= dimensions[0] <= 7:
        raise ValueError("bad number of dimensions: %d" % dimensions[0])
    shape = dimensions[1:1 + dimensions[0]]
    (code,) = struct.unpack_from(order + "h", volume, 70)
    if code not in DTYPES:
        raise ValueError("NIfTI-1 datatype %d is not supported" % code)
    name, size = DTYPES[code]
    (offset,) = struct.unpack_from(order + "f", volume, 108)
    return shape, ("|" if size == 1 else order) + name, size, int(offset)


def npy_header(shape, dtype):
    """The header of .npy version 1.0, padded so that the data begin at a multiple of 64 bytes."""
    extents = "".join("%d, " % extent for extent in shape).rstrip() if len(shape) == 1 else ", ".join(map(str, shape))
    text = "{'descr': '%s', 'fortran_order': True, 'shape': (%s), }" % (dtype, extents)
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin1")


def convert(volume, path):
    shape, dtype, size, offset = parse_header(volume)
    count = size
    for extent in shape:
        count *= extent
    voxels = memoryview(volume)[offset:offset + count]
    if len(voxels) != count:
        raise ValueError("truncated: %d bytes of voxels, %d expected" % (len(voxels), count))
    partial = path + ".partial"
    with open(partial, "wb") as out:
        out.write(npy_header(shape, dtype))
        out.write(voxels)
    os.replace(partial, path)
    print("nifti_to_npy: %s: %s of %s" % (path, " x ".join(map(str, shape)), dtype), file=sys.stderr)


def main(arguments):
    if len(arguments) == 3:
        with zipfile.ZipFile(arguments[0]) as archive:
            stored = archive.read(arguments[1])
    elif len(arguments) == 2:
        with open(arguments[0], "rb") as file:
            stored = file.read()
    else:
        sys.exit(__doc__)
    convert(gzip.decompress(stored) if stored[:2] == b"\x1f\x8b" else stored, arguments[-1])


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (OSError, EOFError, ValueError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        sys.exit("nifti_to_npy: %s" % error)
