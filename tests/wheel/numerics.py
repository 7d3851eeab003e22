"""A product, a linear system, eigenvalues and a transform of distributed matrices, compared with NumPy's."""

import numpy as np
import partita as pt

with pt.initialize() as ctx:
    full = np.random.default_rng(42).normal(size=(60, 60))
    a = pt.scatter(ctx, full, pt.Slab(0))
    symmetric = a @ a.T
    results = (
        (a @ a, full @ full),
        (pt.linalg.solve(a, a[:, :7]), np.linalg.solve(full, full[:, :7])),
        (pt.linalg.eigvalsh(symmetric), np.linalg.eigvalsh(full @ full.T)),
        (pt.fft.fft2(a + 0j), np.fft.fft2(full)),
        (pt.fft.fft2(a.astype("complex64")), np.fft.fft2(full)),
    )
    same = all(np.allclose(found.redistribute(pt.Replicated()).local, expected, atol=1e-3) for found, expected in results)
    if ctx.rank == 0:
        print(ctx.size, "ranks, as NumPy:", same)
