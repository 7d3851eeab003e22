"""Seconds of one kick-drift-kick step of JaxPM (PyPI), a line for each line of stdin: as many particles as cells."""
import sys
import time

import jax
import jax.numpy as jnp
from jaxpm.pm import pm_forces

cells = int(sys.argv[1])
shape = (cells, cells, cells)


@jax.jit
def step(position, momentum, force):
    momentum = momentum + 0.01 * force
    position = position + 0.01 * momentum
    force = pm_forces(position, mesh_shape=shape, paint_absolute_pos=True).reshape(position.shape)
    return position, momentum + 0.01 * force, force


lattice = jnp.stack(jnp.meshgrid(*[jnp.arange(cells, dtype=jnp.float32)] * 3, indexing="ij"), axis=-1)
position = lattice + 0.5 * jax.random.normal(jax.random.PRNGKey(1), lattice.shape)
state = (position, jnp.zeros_like(position), jnp.zeros_like(position))
state = jax.block_until_ready(step(*state))
for _ in sys.stdin:
    begin = time.perf_counter()
    state = jax.block_until_ready(step(*state))
    print(time.perf_counter() - begin, flush=True)
