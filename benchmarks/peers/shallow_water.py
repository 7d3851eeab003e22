"""Seconds of so many steps of the ocean of apps/shallow_water in JAX with mpi4jax (PyPI), or in NumPy: a line for each line of stdin.

    python3 shallow_water.py mpi4jax ROWS COLUMNS STEPS     on ranks of MPI: 1, or an even number
    python3 shallow_water.py numpy ROWS COLUMNS STEPS       on one

Equations, constants and step are those of mpi4jax's demo (github.com/mpi4jax/mpi4jax, examples/shallow_water.py), published times
in its docs/shallow-water.rst; so are 12 exchanges of one field with one ghost cell a step, the parts (two rows of ranks), f32, and
all steps in one jit. Friction of v is by its own differences, as in apps/shallow_water; the demo takes u's at as many operations.
"""
import math
import sys
import time

import numpy as np

form, rows, columns, steps = sys.argv[1], *map(int, sys.argv[2:5])
if form == "mpi4jax":
    import jax
    import jax.numpy as jnp
    import mpi4jax
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rank, ranks = world.rank, world.size
else:
    rank, ranks = 0, 1
grid = (2, ranks // 2) if ranks > 1 else (1, 1)
place = divmod(rank, grid[1])
shape = (rows // grid[0], columns // grid[1])  # of this rank's part

spacing, gravity, depth, coriolis, beta = 5e3, 9.81, 100.0, 2e-4, 2e-11
time_step = 0.125 * spacing / math.sqrt(gravity * depth)
viscosity = 1e-3 * coriolis * spacing**2
newest, before = 1.6, -0.6
at_north_wall = place[0] == grid[0] - 1

# The part of a field without its ghost cells, and the same cells seen from the neighbours of each.
inner = np.s_[1:-1, 1:-1]
east, west = np.s_[1:-1, 2:], np.s_[1:-1, :-2]
north, south = np.s_[2:, 1:-1], np.s_[:-2, 1:-1]
north_east, north_west, south_east = np.s_[2:, 2:], np.s_[2:, :-2], np.s_[:-2, 2:]


def neighbour(down, right):
    """Its rank; None beyond a wall."""
    row, column = place[0] + down, (place[1] + right) % grid[1]
    return row * grid[1] + column if 0 <= row < grid[0] else None


# What is sent where: the cells that are sent, to which rank; the ghost cells that are filled, from which rank.
moves = [
    (np.s_[:, 1], neighbour(0, -1), np.s_[:, -1], neighbour(0, 1)),
    (np.s_[-2, :], neighbour(1, 0), np.s_[0, :], neighbour(-1, 0)),
    (np.s_[:, -2], neighbour(0, 1), np.s_[:, 0], neighbour(0, -1)),
    (np.s_[1, :], neighbour(-1, 0), np.s_[-1, :], neighbour(1, 0)),
]


def exchange_mpi4jax(field):
    for given, to, filled, origin in moves:
        if to is not None and origin is not None:
            field = field.at[filled].set(mpi4jax.sendrecv(field[given], field[filled], origin, to, comm=world))
        elif to is not None:
            mpi4jax.send(field[given], to, comm=world)
        elif origin is not None:
            field = field.at[filled].set(mpi4jax.recv(field[filled], origin, comm=world))
    return field


def exchange_numpy(field):
    field[:, -1], field[:, 0] = field[:, 1], field[:, -2]
    return field


def set_jax(field, cells, values):
    return field.at[cells].set(values)


def set_numpy(field, cells, values):
    field[cells] = values
    return field


put, exchange, xp = (set_jax, exchange_mpi4jax, jnp) if form == "mpi4jax" else (set_numpy, exchange_numpy, np)


def whole(field, values, wall=False):
    """The field with these inner values, and its ghost cells."""
    field = exchange(put(field, inner, values))
    return put(field, np.s_[-2, :], 0.0) if wall and at_north_wall else field


def friction(field):
    rate = viscosity / spacing
    eastward = whole(xp.zeros_like(field), rate * (field[east] - field[inner]))
    northward = whole(xp.zeros_like(field), rate * (field[north] - field[inner]), wall=True)
    return time_step / spacing * ((eastward[inner] - eastward[west]) + (northward[inner] - northward[south]))


def step(state, weights, f):
    h, u, v, *last = state
    zeros = xp.zeros_like(h)
    at_edges = exchange(xp.pad(h[inner], 1, "edge"))
    eastward = whole(zeros.copy(), 0.5 * (at_edges[inner] + at_edges[east]) * u[inner])
    northward = whole(zeros.copy(), 0.5 * (at_edges[inner] + at_edges[north]) * v[inner], wall=True)
    corners = 0.25 * (at_edges[inner] + at_edges[east] + at_edges[north] + at_edges[north_east])
    curl = ((v[east] - v[inner]) - (u[north] - u[inner])) / spacing
    q = whole(zeros.copy(), (f + curl) / corners)
    energy = whole(zeros.copy(), 0.25 * (u[inner] ** 2 + u[west] ** 2 + v[inner] ** 2 + v[south] ** 2))
    rates = (
        ((eastward[west] - eastward[inner]) + (northward[south] - northward[inner])) / spacing,
        (gravity * (h[inner] - h[east]) + (energy[inner] - energy[east])) / spacing
        + 0.25 * (q[inner] * (northward[inner] + northward[east]) + q[south] * (northward[south] + northward[south_east])),
        (gravity * (h[inner] - h[north]) + (energy[inner] - energy[north])) / spacing
        - 0.25 * (q[inner] * (eastward[inner] + eastward[north]) + q[west] * (eastward[west] + eastward[north_west])),
    )
    a, b = weights
    h, u, v = (
        whole(field, field[inner] + time_step * (a * rate + b * old), wall)
        for field, rate, old, wall in zip((h, u, v), rates, last, (False, False, True))
    )
    u = put(u, inner, u[inner] + friction(u))
    v = put(v, inner, v[inner] + friction(v))
    return (h, u, put(v, np.s_[-2, :], 0.0) if at_north_wall else v, *rates)


def beginning():
    """A jet in geostrophic balance, and a small disturbance; Coriolis' parameter of each row."""
    y, x = (spacing * np.arange(-1, n + 1) for n in (rows, columns))
    length, width = y[-2] - y[1], x[-2] - x[1]
    jet = 10 * np.exp(-(((y - length / 2) / (0.02 * width)) ** 2))
    slope = np.cumsum(-spacing * jet * (coriolis + beta * y) / gravity)
    slope -= slope[1:-1].mean()
    disturbance = 0.2 * np.cos(y / length * 8 * np.pi)[:, None] * np.sin(x / width * 10 * np.pi)
    cells = tuple(slice(p * n, p * n + n + 2) for p, n in zip(place, shape))
    h = (depth + slope[:, None] + disturbance)[cells]
    u = np.broadcast_to(jet[:, None], (rows + 2, columns + 2))[cells]
    fields = [np.array(field, np.float32) for field in (h, u, np.zeros_like(h))]
    f = (coriolis + beta * y)[cells[0]][1:-1, None].astype(np.float32)
    return fields, f


def sleep_until_all_are_here():
    """Without taking a core from who measures meanwhile."""
    request = world.Ibarrier()
    while not request.Test():
        time.sleep(1e-3)


def prepare():
    """The steps, one after the other, and what they begin with."""
    fields, f = beginning()
    state = (*map(exchange, map(xp.asarray, fields)), *[xp.zeros(shape, np.float32)] * 3)
    if form == "numpy":

        def run(state):
            for _ in range(steps):
                state = step(state, (newest, before), f)
            return state

        return step(state, (1.0, 0.0), f), run
    run = jax.jit(lambda state: jax.lax.fori_loop(0, steps, lambda _, s: step(s, (newest, before), f), state))
    return jax.jit(lambda state: step(state, (1.0, 0.0), f))(state), lambda state: jax.block_until_ready(run(state))


def lines():
    """One for each line that rank 0 reads, on every rank."""
    while True:
        line = sys.stdin.readline() if rank == 0 else "?"
        if ranks > 1:
            sleep_until_all_are_here()
            line = world.bcast(line)
        if not line:
            return
        yield line


state, run = prepare()
state = run(state)
for line in lines():
    begin = time.perf_counter()
    state = run(state)
    if ranks > 1:
        world.Barrier()
    if rank == 0:
        print(time.perf_counter() - begin, flush=True)
