"""The largest eigenvalue of a symmetric block-cyclic matrix, by power iteration.

    mpirun -n 4 python power_iteration.py       or: partita run --threads 4 -- python power_iteration.py
"""

import numpy as np

import partita as pt


def largest(matrix: pt.Array, steps: int = 200) -> float:
    """Of a symmetric matrix, by the Rayleigh quotient."""
    x = pt.random(matrix.context, matrix.shape[0], pt.Replicated(), seed=1)
    value = 0.0
    for _ in range(steps):
        y = pt.matmul(matrix, x, distribution=pt.Replicated())
        value = float(pt.dot(x, y) / pt.dot(x, x))
        x = y / pt.norm(y)
    return value


def main() -> None:
    with pt.initialize() as context:
        n, ranks = 120, context.size
        rows = 2 if ranks % 2 == 0 else 1
        cyclic = pt.BlockCyclic((rows, ranks // rows), (16, 16))
        # Of known eigenvalues: 1 on the diagonal, but one direction that is stretched to 10.
        u = np.sin(np.arange(n) + 1.0)
        u /= np.linalg.norm(u)
        matrix = pt.from_function(context, (n, n), cyclic, lambda i, j: (i == j) + 9 * u[i] * u[j])
        value = largest(matrix)
        assert abs(value - 10) < 1e-9, value
        if context.rank == 0:
            print(f"largest eigenvalue on {ranks} ranks: {value:.6f}")


if __name__ == "__main__":
    main()
