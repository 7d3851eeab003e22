"""A three-dimensional Fourier transform of an array that is sharded over a grid of devices.

With mpi4jax it is written for the part of one rank, with one communicator per axis of the grid, and has a transposed result:

    def fft3d(arr, comms):
        shape = list(arr.shape)
        nx, ny = comms[0].Get_size(), comms[1].Get_size()
        arr = jnp.fft.fft(arr)                                                    # along z
        arr = arr.reshape(shape[:-1] + [nx, shape[-1] // nx])
        arr = arr.transpose([2, 1, 3, 0])
        arr, token = mpi4jax.alltoall(arr, comm=comms[0])
        arr = arr.transpose([1, 2, 0, 3]).reshape(shape)
        arr = jnp.fft.fft(arr)                                                    # along x
        arr = arr.reshape(shape[:-1] + [ny, shape[-1] // ny])
        arr = arr.transpose([2, 1, 3, 0])
        arr, token = mpi4jax.alltoall(arr, comm=comms[1], token=token)
        arr = arr.transpose([1, 2, 0, 3]).reshape(shape)
        return jnp.fft.fft(arr)                                                   # along y

With Partita it is one call on the whole array, in natural order, with a derivative. The program runs in one process with all devices, or in one
process per device (`jax.distributed.initialize()`).
"""

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import partita.jax as pj

devices = len(jax.devices())
columns = next(extent for extent in range(int(devices**0.5), 0, -1) if devices % extent == 0)
mesh = jax.make_mesh((devices // columns, columns), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
pencils = NamedSharding(mesh, PartitionSpec("x", "y"))  # a device has whole lines along z
n = 4 * devices


@jax.jit
def density(key):
    return jax.lax.with_sharding_constraint(jax.random.normal(key, (n, n, n)), pencils)


@jax.jit
def damping():
    """By wave number."""
    k = jnp.fft.fftfreq(n)
    return jax.lax.with_sharding_constraint(jnp.exp(-20 * (k[:, None, None] ** 2 + k[:, None] ** 2 + k**2)), pencils)


@jax.jit
def smoothed(field, factors):
    """The field without its short waves: a transform, a product, and the inverse transform."""
    return pj.ifftn(factors * pj.fftn(field)).real  # the spectrum is sharded as the field is


with pj.Group():
    field, factors = density(jax.random.key(0)), damping()
    result = smoothed(field, factors)
    assert result.sharding.is_equivalent_to(pencils, 3)
    text = smoothed.lower(field, factors).compile().as_text()
    assert "partita_fft" in text and "all-gather" not in text

    @jax.jit
    def power(x, factors):
        return jnp.sum(smoothed(x, factors) ** 2) / 2

    slope = jax.jit(jax.grad(power))(field, factors)  # the filter is symmetric
    assert jnp.allclose(slope, smoothed(result, factors), atol=1e-3)
    if jax.process_index() == 0:
        print(f"{n}^3 over {dict(mesh.shape)}: the filter passes {float(jnp.var(result) / jnp.var(field)):.3f} of the variance")
