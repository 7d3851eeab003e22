"""Sharded programs with `jax.jit` in place of `pjit` and `maps.Mesh`, and calls of Partita inside them.

The older lines that it replaces:

    from jax.experimental import maps, PartitionSpec
    from jax.experimental.pjit import pjit

    devices = np.asarray(jax.devices()).reshape(4, 2)
    mesh = maps.Mesh(devices, ("x", "y"))
    f = pjit(lambda x: 2 * x + 1, in_axis_resources=None, out_axis_resources=PartitionSpec("x", "y"))
    with maps.Mesh(mesh.devices, mesh.axis_names):
        data = f(input_data)
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import partita.jax as pj

devices = np.asarray(jax.devices())
mesh = Mesh(devices.reshape(-1, 2 if len(devices) % 2 == 0 else 1), ("x", "y"))
blocks, rows = NamedSharding(mesh, PartitionSpec("x", "y")), NamedSharding(mesh, PartitionSpec(("x", "y")))

f = jax.jit(lambda x: 2 * x + 1, out_shardings=blocks)
data = f(jnp.zeros((4 * len(devices), 4 * len(devices))))
assert data.sharding.is_equivalent_to(blocks, 2)


@jax.jit
def covariance(x):
    """Products and factors of the whole array, whose blocks stay on their devices."""
    product = pj.matmul(x, x, transpose_b=True, out_sharding=rows)
    return pj.linalg.cholesky(product + jnp.eye(len(x)))


with pj.Group():
    factor = covariance(data)
    moved = pj.redistribute(factor, blocks)
    assert moved.sharding.is_equivalent_to(blocks, 2)
    assert "all-gather" not in covariance.lower(data).compile().as_text()
    if jax.process_index() == 0:
        print(f"the factor has the shape {moved.shape}, in blocks of {moved.addressable_shards[0].data.shape}")
