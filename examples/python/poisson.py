"""Poisson's equation in a periodic cube, by real transforms: laplacian(u) = f.

    mpirun -n 4 python poisson.py
"""

import numpy as np

import partita as pt


def solve(f: pt.Array) -> pt.Array:
    """The u of mean zero. `spectral.solve_poisson` does the same in one call."""
    n = f.shape
    spectrum = pt.fft.rfftn(f, output="cheapest")  # where the transform leaves it, which saves an exchange
    k = [np.fft.fftfreq(n[0], 1 / n[0]), np.fft.fftfreq(n[1], 1 / n[1]), np.fft.rfftfreq(n[2], 1 / n[2])]
    square = pt.from_function(
        f.context, spectrum.shape, spectrum.distribution, lambda x, y, z: k[0][x] ** 2 + k[1][y] ** 2 + k[2][z] ** 2
    )
    spectrum[:1, :1, :1], square[:1, :1, :1] = 0, 1  # the mean
    spectrum /= -square  # local, as all of NumPy's operators
    return pt.fft.irfftn(spectrum, n, distribution=f.distribution)


def main() -> None:
    with pt.initialize() as context:
        n = 24
        step = 2 * np.pi / n
        wanted = pt.from_function(
            context, (n, n, n), pt.Slab(0), lambda i, j, k: np.sin(step * i) * np.cos(2 * step * j) * np.sin(step * k)
        )
        u = solve(wanted * -6.0)
        error = float(abs(u - wanted).max())
        assert error < 1e-12, error
        if context.rank == 0:
            print(f"largest error on {context.size} ranks: {error:.1e}")


if __name__ == "__main__":
    main()
