"""The conversion of NIfTI-1 volumes, on small volumes made here."""

import ast
import gzip
import os
import struct
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "nifti_to_npy.py")


def nifti(shape, code, voxels, order="<", magic=b"n+1\0"):
    header = bytearray(352)
    struct.pack_into(order + "i", header, 0, 348)
    struct.pack_into(order + "8h", header, 40, len(shape), *shape, *[1] * (7 - len(shape)))
    struct.pack_into(order + "h", header, 70, code)
    struct.pack_into(order + "f", header, 108, 352.0)
    header[344:348] = magic
    return bytes(header) + voxels


class NiftiToNpy(unittest.TestCase):
    def convert(self, volume):
        """Exit code, message, and the bytes written (None: no file)."""
        with tempfile.TemporaryDirectory() as folder:
            source, result = os.path.join(folder, "in.nii"), os.path.join(folder, "out.npy")
            with open(source, "wb") as file:
                file.write(volume)
            run = subprocess.run([sys.executable, SCRIPT, source, result], stderr=subprocess.PIPE, text=True)
            left = sorted(os.listdir(folder))
            if run.returncode != 0:
                self.assertEqual(left, ["in.nii"])
                return run.returncode, run.stderr, None
            with open(result, "rb") as file:
                return 0, run.stderr, file.read()

    def check(self, written, descr, shape, voxels):
        self.assertEqual(written[:8], b"\x93NUMPY\x01\x00")
        (length,) = struct.unpack_from("<H", written, 8)
        self.assertEqual((10 + length) % 64, 0)
        header = ast.literal_eval(written[10:10 + length].decode())
        self.assertEqual(header, {"descr": descr, "fortran_order": True, "shape": shape})
        self.assertEqual(written[10 + length:], voxels)

    def test_shapes_and_dtypes(self):
        for shape in [(1,), (5,), (3, 7), (3, 5, 7), (2, 1, 3, 5)]:
            for code, descr, size in [(2, "|u1", 1), (4, "<i2", 2), (16, "<f4", 4), (1792, "<c16", 16)]:
                count = 1
                for extent in shape:
                    count *= extent
                voxels = bytes(i * 37 % 251 for i in range(count * size))
                with self.subTest(shape=shape, descr=descr):
                    code_out, _, written = self.convert(nifti(shape, code, voxels))
                    self.assertEqual(code_out, 0)
                    self.check(written, descr, shape, voxels)

    def test_compressed_and_big_endian(self):
        voxels = struct.pack(">6h", *range(6))
        _, _, written = self.convert(gzip.compress(nifti((2, 3), 4, voxels, ">")))
        self.check(written, ">i2", (2, 3), voxels)

    def test_bad_input(self):
        good = nifti((3, 5), 2, bytes(15))
        cases = [(good[:-1], "truncated"), (b"", "not a NIfTI-1"), (b"x" * 400, "not a NIfTI-1"),
                 (nifti((3, 5), 9, bytes(15)), "datatype 9"), (nifti((3,), 2, bytes(3), magic=b"ni1\0"), "single-file"),
                 (gzip.compress(good)[:-9], "nifti_to_npy")]
        for volume, message in cases:
            with self.subTest(message=message):
                code, error, _ = self.convert(volume)
                self.assertNotEqual(code, 0)
                self.assertIn(message, error)
                self.assertEqual(error.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
