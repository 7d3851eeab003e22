"""Products that are planned once and executed many times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Union

from ..... import _core
from ....._array import Array
from ....._collectives import all_reduce
from ....._errors import ArgumentError, UnsupportedError
from ....._linear import Matmul as Product
from ..._agreement import collective, gather_objects, raised_on_all, require_alike
from ..._internal.tensor_wrapper import wrap_operand
from ..._memory import distributed, new_array
from ..._stateful import Stateful, check_facts, facts_of, options_of
from ...distribution import Distribution
from ._configuration import MatmulOptions, MatmulPlanPreferences
from ._enums import EPILOGUES, MatmulAlgoType, MatmulEpilogue
from ._epilogs import Epilog, check_preferences, inputs_of
from ._problem import algorithm, factors_of, layout_of_c, layout_of_d, method_of, settle, spec_of
from ._scales import Scales, given_scales
from ._types import is_narrow, types_of

OptionsLike = Union[MatmulOptions, Dict[str, Any], None]


@raised_on_all
class InvalidMatmulState(Exception):
    """A freed object was used."""


@dataclass
class _Other:
    """What `reset_operands` has been given, by name."""

    operands: Dict[str, Any]
    factors: Dict[str, complex]
    scales: Dict[str, Any]
    epilog_inputs: Any

    def names(self) -> List[str]:
        """Of all that is given."""
        inputs = [] if self.epilog_inputs is None else ["epilog_inputs"]
        return [*self.operands, *self.factors, *(f"scale of {name}" for name in self.scales), *inputs]


class Matmul(Stateful):
    """D = F(alpha op(A) op(B) + beta C).

    Creation, `plan`, `execute` and `reset_operands` are collective and blocking.

    Parameters
    ----------
    a, b, c : array
        This rank's parts of matrices: NumPy, CuPy or PyTorch, in any memory and order.
    distributions : sequence of Distribution
        Of A, B, and of C and D: any.
    alpha, beta : number, optional
        1; beta must be given where there is a C.
    qualifiers : array of matrix_qualifiers_dtype, optional
        What of A and B is transposed and conjugated.
    quantization_scales : MatmulQuantizationScales or dict, optional
        Only of operands of 8 bits.
    options : MatmulOptions or dict, optional
    stream : optional
        What it has been given is waited for before operands are read.

    Raises
    ------
    ValueError, TypeError, BindDistributionError, UnsupportedError
        The same on every rank.
    """

    _invalid = InvalidMatmulState
    _reset = "reset_operands"

    @collective
    def __init__(
        self,
        a: Any,
        b: Any,
        /,
        c: Any = None,
        *,
        distributions: Sequence[Distribution],
        alpha: Any = None,
        beta: Any = None,
        qualifiers: Any = None,
        quantization_scales: Any = None,
        options: OptionsLike = None,
        stream: Any = None,
    ) -> None:
        self.options = options_of(MatmulOptions, options, "options")
        self._begin(self.options.logger)
        given = [a, b] if c is None else [a, b, c]
        spec = (given, distributions, alpha, beta, qualifiers, quantization_scales, self.options)
        self._specs = gather_objects(self._context, spec_of(*spec))
        first = self._specs[0]
        layout_a, layout_b, self.mm_traits = settle(self._specs)
        self._layouts: List[_core.Layout] = [layout_a, layout_b]
        self._types = types_of(self.options, first.dtypes)
        self._dtype = self._types.result or first.dtypes[0]
        self.inplace = self.options.inplace and len(given) == 3
        self._factors = list(factors_of(self._types, alpha, beta))
        self._operands: List[Any] = [wrap_operand(one) for one in given]
        self._wait_for(stream, self._operands[0])
        self._facts = [facts_of(one) for one in self._operands]
        kind = type(self._operands[0])
        self._like = kind(kind._flat(0, self._operands[0].device_id, "float32"))
        narrow = is_narrow(first.dtypes[0])
        self._scales = Scales(self._context, quantization_scales, self.options.result_amax, self._like) if narrow else None
        self._epilog: Optional[Epilog] = None
        self._products: Dict[str, Product] = {}
        self._arrays: List[Array] = []
        self._expected_algo = -1

    # --- planning

    @collective
    def plan(self, *, preferences: Any = None, epilog: Optional[int] = None, epilog_inputs: Any = None, stream: Any = None) -> None:
        """Say F, and make ready. Collective, blocking.

        Parameters
        ----------
        preferences : MatmulPlanPreferences or dict, optional
        epilog : MatmulEpilog, optional
        epilog_inputs : dict, optional
            By name: 'bias' (the rows of D that this rank has), 'relu_aux' and 'gelu_aux' (as `execute` gives them).
        """
        self._check_operands("Planning")
        self._wait_for(stream, self._operands[0])
        chosen = options_of(MatmulPlanPreferences, preferences, "preferences")
        kind = MatmulEpilogue.DEFAULT if epilog is None else MatmulEpilogue(epilog)
        check_preferences(chosen, kind, self._dtype)
        require_alike("epilog is", [one.name for one in gather_objects(self._context, kind)])
        all_reduce = kind == MatmulEpilogue.ALLREDUCE
        layout_c = layout_of_c(self._specs, self.mm_traits, all_reduce)
        self._layout_d = layout_of_d(self._specs, self.mm_traits, all_reduce)
        self._layouts[2:] = [] if layout_c is None else [layout_c]
        first = self._specs[0]
        self._expected_algo = algorithm(first.distributions, first.ops, self.mm_traits, all_reduce)
        self._products.clear()
        self._take_arrays()
        self._epilog = Epilog(self._context, kind, self._layout_d, self.mm_traits, self._dtype, self._like)
        inputs = {} if epilog_inputs is None else epilog_inputs
        self._epilog.check(inputs)
        self._context.barrier()  # a rank with wrong inputs has said so before any are taken
        self._epilog.take(inputs)
        self._planned = True

    def _take_arrays(self) -> None:
        self._arrays = [distributed(self._context, one, layout) for one, layout in zip(self._operands, self._layouts)]

    def _product(self, c: Optional[Array], out: Array) -> Product:
        """The plan for the operands that there are."""
        assert self._epilog is not None
        a, b = self._arrays[:2]
        arrays: Dict[str, Any] = dict(zip(("bias", "auxiliary", "gradient"), self._epilog.arrays()))
        if self._scales is not None:
            arrays.update(self._scales.arrays())
        key = " ".join(str(one.operand) for one in (a, b, c, out) if one is not None) + str(c is out)
        if key not in self._products:
            self._products[key] = self._made(c, out, arrays)
            self.logger.info("Matmul: %s", self._products[key].plan.reason)
        self._products[key].reset(a, b, c, out=out, **arrays)
        return self._products[key]

    def _made(self, c: Optional[Array], out: Array, arrays: Dict[str, Any]) -> Product:
        assert self._epilog is not None
        (a, b), ops = self._arrays[:2], self._specs[0].ops
        options: Dict[str, Any] = {
            "op_a": ops[0],
            "op_b": ops[1],
            "epilogue": EPILOGUES[self._epilog.kind],
            "compute": self._types.compute,
            "scale": self._types.scale,
            "result": self._types.result,
        }
        hint = self.options.algo_type
        method = method_of(hint, self._expected_algo)
        if method != "automatic":
            try:
                return Product(a, b, c, out=out, method=method, **arrays, **options)
            except (ArgumentError, UnsupportedError) as why:
                self.logger.info("Matmul: %s", why)
                method = "automatic"
        if hint not in (None, MatmulAlgoType.DEFAULT):
            self.logger.warning("algo_type: %s does not apply to this product; using DEFAULT", MatmulAlgoType(hint).name)
        return Product(a, b, c, out=out, **arrays, **options)

    # --- carrying out

    def _addend(self) -> Optional[Array]:
        """C; with ALLREDUCE the sum of what all ranks have given."""
        assert self._epilog is not None
        if len(self._arrays) < 3:
            return None
        if self._epilog.kind != MatmulEpilogue.ALLREDUCE:
            return self._arrays[2]
        total = new_array(self._context, self._layout_d, self._specs[0].dtypes[2], "F", self._like)
        all_reduce(self._context, self._arrays[2].local, total.local)
        return total

    @collective
    def execute(self, *, release_workspace: bool = False, stream: Any = None) -> Any:
        """Multiply. Collective, blocking.

        Parameters
        ----------
        release_workspace : bool
            Scratch is freed afterwards; the next execution makes it anew.

        Returns
        -------
        array, or (array, dict)
            This rank's part of D: C itself where in place, else new column-major memory, symmetric where all operands are; with
            what the epilog writes in addition, by name.
        """
        self._check_ready()
        assert self._epilog is not None
        self._wait_for(stream, self._operands[0])
        c = self._addend()
        if self.inplace:
            out = self._arrays[2]
        else:
            out = new_array(self._context, self._layout_d, self._dtype, "F", self._like, self._operands)
        if self._scales is not None:
            self._scales.read()
        product = self._product(c, out)
        try:
            product.execute(*self._factors)
            self._wait_for(None, self._operands[0])
        finally:
            product.unbind()  # operands and results are the caller's
        if release_workspace:
            product.release()
        self.logger.info("Matmul: done, %s by %s", *self._layouts[:2])
        outputs = {**self._epilog.outputs(), **(self._scales.outputs() if self._scales is not None else {})}
        result = self._operands[2].tensor if self.inplace else out.local
        return (result, outputs) if outputs else result

    # --- other operands

    def _other(self, a: Any, b: Any, c: Any, alpha: Any, beta: Any, scales: Any, epilog_inputs: Any) -> _Other:
        """What is given; ValueError where it means nothing for this product, or operands are missing. Local."""
        self._check_valid()
        given = {name: wrap_operand(one) for name, one in zip("abc", (a, b, c)) if one is not None}
        if len(self._facts) < 3 and (c is not None or beta is not None):
            raise ValueError("this product has no C, so beta is not allowed")
        if scales is not None and self._scales is None:
            raise ValueError("quantization_scales: require 8-bit operands")
        if self._released and (len(given) < len(self._facts) or self._misses(epilog_inputs)):
            raise ValueError("after release_operands all operands and epilog_inputs are required")
        factors = {
            name: self._types.factor(name, one) for name, one in (("alpha", alpha), ("beta", beta)) if one is not None
        }
        return _Other(given, factors, given_scales(scales), epilog_inputs)

    def _misses(self, epilog_inputs: Any) -> bool:
        return self._epilog is not None and bool(inputs_of(self._epilog.kind)) and not epilog_inputs

    @collective
    def reset_operands(
        self,
        *,
        a: Any = None,
        b: Any = None,
        c: Any = None,
        alpha: Any = None,
        beta: Any = None,
        quantization_scales: Any = None,
        epilog_inputs: Any = None,
        stream: Any = None,
    ) -> None:
        """Take other operands of the same package, dtype, device and shape, other factors, or other inputs of the epilog. Collective."""
        other = self._other(a, b, c, alpha, beta, quantization_scales, epilog_inputs)
        if not other.names():
            raise ValueError("nothing is given")
        for name, tensor in other.operands.items():
            check_facts("the {} of " + name, tensor, self._facts["abc".index(name)])
        if self._scales is not None:
            self._scales.check(quantization_scales)
        if self._epilog is not None and epilog_inputs is not None:
            self._epilog.check(epilog_inputs)
        everyone = gather_objects(self._context, (other.names(), str(other.factors)))
        require_alike("what is given is", [names for names, _ in everyone])
        require_alike("alpha and beta are", [factors for _, factors in everyone])
        self._take_other(other, stream)

    @collective
    def reset_operands_unchecked(
        self,
        *,
        a: Any = None,
        b: Any = None,
        c: Any = None,
        alpha: Any = None,
        beta: Any = None,
        quantization_scales: Any = None,
        epilog_inputs: Any = None,
        stream: Any = None,
    ) -> None:
        """The same by the word of the caller. Collective."""
        self._take_other(self._other(a, b, c, alpha, beta, quantization_scales, epilog_inputs), stream)

    def _take_other(self, other: _Other, stream: Any) -> None:
        for place, name in enumerate(("alpha", "beta")):
            self._factors[place] = other.factors.get(name, self._factors[place])
        if self._scales is not None:
            self._scales.take(other.scales)
        for name, tensor in other.operands.items():
            self._operands["abc".index(name)] = tensor
        self._wait_for(stream, self._operands[0])
        self._released = ""
        if self._planned and other.operands:
            self._take_arrays()
        if self._epilog is not None and other.epilog_inputs is not None:
            self._epilog.take(other.epilog_inputs)

    def release_operands(self) -> None:
        """Let go of operands; `reset_operands` gives others. Local."""
        self._check_valid()
        self._operands = [None] * len(self._facts)
        self._arrays = []
        self._products.clear()
        self._released = "after the operands have been released"

    def _drop(self) -> None:
        self._operands, self._arrays, self._epilog, self._products = [], [], None, {}
