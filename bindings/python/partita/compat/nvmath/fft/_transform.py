"""Transforms that are planned once and executed many times."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional, Union

from ...._array import Array
from ....fft import FFT as Transform
from .._agreement import collective, gather_objects, raised_on_all
from .._internal.tensor_wrapper import wrap_operand
from .._memory import distributed, new_array
from .._stateful import OfOneOperand, facts_of, options_of
from ..distribution import Slab
from ._allocate import buffer_of, result_dtype
from ._configuration import FFTDirection, FFTOptions, direction_of, fft_type_of
from ._layouts import Spec, given_of, settle

OptionsLike = Union[FFTOptions, Dict[str, Any], None]


@raised_on_all
class InvalidFFTState(Exception):
    """A freed object was used."""


class FFT(OfOneOperand):
    """A transform over all axes of an array of 2 or 3 dimensions, without a factor in either direction.

    Creation, `execute` and `reset_operand` are collective and blocking.

    Parameters
    ----------
    operand : array
        This rank's part: NumPy, CuPy or PyTorch, float32, float64, complex64 or complex128, any strides.
    distribution : Distribution or (Box, Box)
        Of the operand; of boxes each rank gives its own, of the operand and of the result.
    options : FFTOptions or dict, optional
    stream : optional
        What it has been given is waited for before the operand is read.

    Notes
    -----
    A result of the operand's shape and dtype takes the operand's place, and so does any of an operand of
    `allocate_operand`; others are new arrays.

    Raises
    ------
    ValueError, TypeError, BindDistributionError
        The same on every rank.
    """

    _invalid = InvalidFFTState

    @collective
    def __init__(self, operand: Any, /, *, distribution: Any, options: OptionsLike = None, stream: Any = None) -> None:
        self.options = options_of(FFTOptions, options, "options")
        self._begin(self.options.logger)
        specs = gather_objects(self._context, self._spec(operand, distribution))
        self._layouts = settle(specs, self.options.redistribute, self.options.last_axis_parity)
        self._first = self._layouts
        self.fft_type = specs[0].fft_type
        self.distribution = self._given_first = given_of(distribution, len(specs[0].shape))
        self.global_extents = tuple(self._layouts[0].shape)
        self._dtypes = specs[0].dtype, result_dtype(specs[0].dtype, self.fft_type)
        self._transforms: Dict[str, Transform] = {}
        self._staging: Dict[str, Array] = {}
        self._take(wrap_operand(operand), stream)
        self._facts = facts_of(self._operand)[:3]  # the shape may be another one

    def _spec(self, operand: Any, distribution: Any) -> Spec:
        tensor = wrap_operand(operand)
        if tensor.dtype not in ("float32", "float64", "complex64", "complex128"):
            raise ValueError(f"dtype {tensor.dtype} has no transform")
        options = self.options
        return Spec(
            tensor.shape,
            tensor.dtype,
            tensor.name,
            tensor.device,
            given_of(distribution, len(tensor.shape)),
            fft_type_of(tensor.dtype, options.fft_type),
            (options.fft_type, options.redistribute, options.last_axis_parity, options.blocking),
        )

    def _take(self, tensor: Any, stream: Any) -> None:
        self._wait_for(stream, tensor)
        self._operand: Any = tensor
        self._fits = all(gather_objects(self._context, self._place() is not None))
        self._source: Optional[Array] = distributed(self._context, tensor, self._layouts[0])
        self._released = ""

    @collective
    def plan(self, *, stream: Any = None) -> None:
        """Make ready. Collective, blocking; the first execution in a direction plans it."""
        self._make_ready(stream, self._operand)

    # --- where the result is written

    def _in_place(self) -> bool:
        before, after = self._layouts
        return self.fft_type == "C2C" and before.equivalent(after)

    def _place(self) -> Any:
        """The operand's memory as the result; None where it is not enough."""
        shape, tensor = self._layouts[1].local_shape(self._context.rank), self._operand
        if self.fft_type == "C2C" and tensor.size == math.prod(shape) and tensor.is_row_major:
            return tensor if tensor.shape == shape else tensor.reshape(shape)
        buffer = buffer_of(tensor)
        if buffer is None:
            return None
        return type(tensor)(buffer.as_dtype(self._dtypes[1]).tensor[: math.prod(shape)]).reshape(shape)

    def _result_array(self, staged: bool) -> Array:
        """New; or, where it is copied to its place afterwards, the same again."""
        key = str(self._layouts[1])
        if staged and key in self._staging:
            return self._staging[key]
        array = new_array(self._context, self._layouts[1], self._dtypes[1], "C", self._operand)
        if staged:
            self._staging[key] = array
        return array

    def _transform(self, source: Array, result: Array, direction: FFTDirection) -> Transform:
        """The plan for them."""
        key = f"{direction.name} {source.operand} {result.operand} {result is source}"
        if key not in self._transforms:
            inverse = direction == FFTDirection.INVERSE
            options: Dict[str, Any] = {"norm": "forward" if inverse else "backward"}
            if self.fft_type == "C2C":
                options["inverse"] = inverse
            if self.fft_type == "C2R":
                options["last_length"] = result.shape[-1]
            made = Transform(source, self.fft_type.lower(), out=result, **options)
            del made._input, made.out  # each execution names its own
            self._transforms[key] = made
            self.logger.info("FFT: %s", made.plan.reason)
        return self._transforms[key]

    @collective
    def execute(
        self,
        *,
        direction: Union[FFTDirection, int, str, None] = None,
        stream: Any = None,
        release_workspace: bool = False,
        sync_symmetric_memory: bool = True,
    ) -> Any:
        """Transform. Collective, blocking.

        Parameters
        ----------
        direction : FFTDirection, 'forward' or 'inverse', optional
            By default that of the type: forward but for 'C2R'.
        release_workspace : bool
            Scratch is freed afterwards; the next execution makes it anew.
        sync_symmetric_memory : bool
            No rank's part is read before that rank has come here, with either value.

        Returns
        -------
        array
            This rank's part of the result; see the class for its distribution.
        """
        self._check_ready()
        which = direction_of(direction, self.fft_type)
        self._wait_for(stream, self._operand)
        source = self._source
        assert source is not None
        found: Any
        if self._in_place():
            transform = self._transform(source, source, which)
            transform.execute(source, source)
            found = self._operand.tensor
        else:
            place = self._place() if self._fits else None
            result = self._result_array(self._fits)
            transform = self._transform(source, result, which)
            transform.execute(source, result)
            if place is not None:
                place.copy_(wrap_operand(result.local))
            found = result.local if place is None else place.tensor
        self._wait_for(None, self._operand)
        if release_workspace:
            transform.release()
            self._staging.clear()
        self.logger.info("FFT: done, %s %s of %s", self.fft_type, which.name.lower(), self._layouts[0])
        return found

    # --- other operands

    def _relaid(self, tensor: Any, distribution: Any) -> None:
        """The layouts for an operand with this distribution."""
        given = self.distribution if distribution is None else given_of(distribution, len(self.global_extents))
        if isinstance(given, tuple) != isinstance(self.distribution, tuple):
            raise ValueError("the kind of distribution differs from that of the first operand")
        same = given == self.distribution
        if not same and self.fft_type != "C2C":
            raise ValueError(f"the distribution cannot change with a {self.fft_type} transform")
        if not same and isinstance(given, Slab) and self.options.redistribute:
            raise ValueError("the distribution cannot change with redistribute=True")
        first = self._given_first
        if isinstance(given, tuple) and isinstance(first, tuple) and given not in (first, first[::-1]):
            raise ValueError("the boxes must be those of the first operand, in either order")
        wanted = self._first if given == first else self._first[::-1]
        expected = wanted[0].local_shape(self._context.rank)
        if tensor.shape != expected:
            raise ValueError(f"expected an operand of shape {expected}, got {tensor.shape}")

    @collective
    def reset_operand(self, operand: Any = None, *, distribution: Any = None, stream: Any = None) -> None:
        """Take another operand of the same package, dtype and device; None lets go of it. Collective, blocking.

        Parameters
        ----------
        distribution : optional
            As of the operand before, or, of a complex transform that leaves the result otherwise than the operand, as of the result.
        """
        self._replace(
            operand, lambda tensor: self._take_as(tensor, distribution, stream), lambda tensor: self._relaid(tensor, distribution)
        )

    @collective
    def reset_operand_unchecked(self, operand: Any, *, distribution: Any = None, stream: Any = None) -> None:
        """The same by the word of the caller. Collective, blocking."""
        self._check_valid()
        self._take_as(wrap_operand(operand), distribution, stream)

    def _take_as(self, tensor: Any, distribution: Any, stream: Any) -> None:
        if distribution is not None:
            self.distribution = given_of(distribution, len(self.global_extents))
        self._layouts = self._first if self.distribution == self._given_first else self._first[::-1]
        self._take(tensor, stream)

    def _drop(self) -> None:
        self._operand = self._source = None
        self._transforms, self._staging = {}, {}
