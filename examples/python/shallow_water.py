"""An ocean model in JAX, with all steps in one jit: the equations of apps/shallow_water, in which a jet becomes unstable.

    mpirun -n 4 python shallow_water.py

Shallow water on a C grid: u on the eastern faces of cells, v on the northern ones; periodic in x, walls in y. The constants are those
of the demo of mpi4jax.
"""

import math
from typing import Any, Tuple

import jax  # type: ignore[import-not-found,unused-ignore]
import jax.numpy as jnp  # type: ignore[import-not-found,unused-ignore]
import numpy as np

import partita as pt
import partita.jax as pj

spacing, gravity, depth, coriolis, beta = 5e3, 9.81, 100.0, 2e-4, 2e-11  # metres, seconds
time_step = 0.125 * spacing / math.sqrt(gravity * depth)
friction = time_step * 1e-3 * coriolis  # of a cell and its neighbours, a step
made_once: Any = jax.lax.optimization_barrier  # what neighbours read, which XLA makes again for each of them otherwise


def layout_of(rows: int, columns: int, ranks: int) -> pt.Layout:
    """Of the fields h, u, v: parts as square as the ranks allow."""
    down = max(n for n in range(1, math.isqrt(ranks) + 1) if ranks % n == 0)
    return pt.Layout(pt.BlockNonCyclic((1, down, ranks // down)), (3, rows, columns), ranks)


def beginning(layout: pt.Layout, rank: int) -> Any:
    """h, u, v of this rank's part: a jet in geostrophic balance, and a small disturbance."""
    rows, columns = layout.shape[1:]
    y, x = (spacing * np.arange(n) for n in (rows, columns))
    jet = 10 * np.exp(-(((y - y[-1] / 2) / (0.02 * x[-1])) ** 2))
    slope = np.cumsum(-spacing * jet * (coriolis + beta * y) / gravity)
    j, i = layout.indices(1, rank), layout.indices(2, rank)
    disturbance = 0.2 * np.outer(np.cos(y[j] / y[-1] * 8 * np.pi), np.sin(x[i] / x[-1] * 10 * np.pi))
    h = depth + (slope - slope.mean())[j, None] + disturbance
    u = np.broadcast_to(jet[j, None], h.shape)
    return np.stack([h, u, np.zeros_like(h)]).astype(np.float32)


def east(field: Any) -> Any:
    """What the eastern neighbour of each cell has; 0 at the edge, and so the others."""
    return jnp.pad(field[:, 1:], ((0, 0), (0, 1)))


def west(field: Any) -> Any:
    return jnp.pad(field[:, :-1], ((0, 0), (1, 0)))


def north(field: Any) -> Any:
    return jnp.pad(field[1:], ((0, 1), (0, 0)))


def south(field: Any) -> Any:
    return jnp.pad(field[:-1], ((1, 0), (0, 0)))


def rates_of_change(h: Any, u: Any, v: Any, y: Any, open_: Any) -> Any:
    """Of h, u and v; `open_` is 0 where the northern face of a cell is a wall."""
    eastward, northward = 0.5 * (h + east(h)) * u, 0.5 * (h + north(h)) * v
    curl = ((east(v) - v) - (north(u) - u)) / spacing
    q = (coriolis + beta * y + curl) / (0.25 * (h + east(h) + north(h) + north(east(h))))
    head = gravity * h + 0.25 * (u**2 + west(u) ** 2 + v**2 + south(v) ** 2)
    eastward, northward, q, head = made_once((eastward, northward, q, head))
    dh = (west(eastward) - eastward + south(northward) - northward) / spacing
    du = (head - east(head)) / spacing + 0.25 * (q * (northward + east(northward)) + south(q * (northward + east(northward))))
    dv = (head - north(head)) / spacing - 0.25 * (q * (eastward + north(eastward)) + west(q * (eastward + north(eastward))))
    return jnp.stack([dh, du, open_ * dv])


def rubbed(field: Any, first: Any, open_: Any) -> Any:
    """With friction; none through the walls."""
    along = (east(field) - field) - (field - west(field))
    return field + friction * (along + open_ * (north(field) - field) - first * (field - south(field)))


State = Tuple[Any, Any]  # h, u, v of the part; their rates of change, in one cell around, too


def step(layout: pt.Layout, rank: int, state: State, newest: Any, before: Any) -> State:
    """One of Adams and Bashforth. Two ghost cells are enough for it: one for the rates, and one for friction."""
    fields, last = state
    rows = layout.shape[1]
    j = np.arange(-2, len(layout.indices(1, rank)) + 2) + int(layout.indices(1, rank)[0])
    water = jnp.asarray((j >= 0) & (j < rows))[:, None]
    open_ = jnp.asarray(j != rows - 1, jnp.float32)[:, None]
    first = jnp.asarray(j != 0, jnp.float32)[:, None]
    h, u, v = pj.halo(fields, layout, (0, 2, 2), (0, 2, 2), (False, False, True))
    h = jnp.where(water, h, depth)
    rates = rates_of_change(h, u, v, jnp.asarray(spacing * j, jnp.float32)[:, None], open_)[:, 1:-1, 1:-1]
    new = jnp.stack([h, u, v]).at[:, 1:-1, 1:-1].add(time_step * (newest * rates + before * last))
    new = made_once(new)
    new = jnp.stack([new[0], rubbed(new[1], first, open_), open_ * rubbed(new[2], first, open_)])
    return new[:, 2:-2, 2:-2], rates


def run(layout: pt.Layout, rank: int, fields: Any, steps: int) -> Any:
    """h, u, v of the part after so many steps, the first of them one of Euler. To be jitted as a whole."""

    def one(number: Any, state: State) -> State:
        weights = jnp.where(number == 0, jnp.array([1, 0], fields.dtype), jnp.array([1.6, -0.6], fields.dtype))
        return step(layout, rank, state, *weights)

    rates = jnp.zeros((3, fields.shape[1] + 2, fields.shape[2] + 2), fields.dtype)
    return jax.lax.fori_loop(0, steps, one, (fields, rates))[0]


def main() -> None:
    with pt.initialize() as context, pj.Group(context):
        layout = layout_of(90, 180, context.size)
        fields = beginning(layout, context.rank)
        after = np.asarray(jax.jit(lambda fields: run(layout, context.rank, fields, 200))(fields))
        water = [pt.all_reduce(context, np.array([part[0].sum(dtype=np.float64)]))[0] for part in (fields, after)]
        assert abs(water[1] / water[0] - 1) < 1e-6, water
        fastest = pt.all_reduce(context, np.array([abs(after[1:]).max()]), reduction="max")[0]
        assert 5 < fastest < 20, fastest
        if context.rank == 0:
            print(f"200 steps on {context.size} ranks: no water is lost, and it flows at up to {fastest:.1f} m/s")


if __name__ == "__main__":
    main()
