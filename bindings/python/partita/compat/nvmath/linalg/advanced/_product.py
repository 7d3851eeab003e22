"""Products that are planned once and executed many times."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Union

from ..... import _core
from ....._array import Array
from ....._collectives import all_reduce
from ....._errors import ArgumentError, UnsupportedError
from ....._linear import Matmul as Product
from ..._agreement import agree
from ..._internal.tensor_wrapper import wrap_operand
from ..._memory import distributed, new_array
from ..._stateful import Stateful, check_facts, facts_of, options_of
from ...distribution import Distribution
from ._configuration import MatmulOptions, MatmulPlanPreferences
from ._enums import EPILOGUES, MatmulAlgoType, MatmulEpilogue
from ._epilogs import Epilog, check_preferences, inputs_of
from ._problem import algorithm, layout_of_c, layout_of_d, method_of, settle, spec_of
from ._scales import Scales
from ._types import is_narrow, types_of

OptionsLike = Union[MatmulOptions, Dict[str, Any], None]


class InvalidMatmulState(Exception):
    """A freed object was used."""


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
        given = [one for one in (a, b, c) if one is not None]
        spec = (given, distributions, alpha, beta, qualifiers, quantization_scales, self.options)
        self._specs = agree(self._context, lambda: spec_of(*spec))
        first = self._specs[0]
        layout_a, layout_b, self.mm_traits = settle(self._specs)
        self._layouts: List[_core.Layout] = [layout_a, layout_b]
        self._types = types_of(self.options, first.dtypes)
        self._dtype = self._types.result or first.dtypes[0]
        self.inplace = self.options.inplace and len(given) == 3
        self._factors = [self._types.factor("alpha", 1 if alpha is None else alpha), self._types.factor("beta", beta or 0)]
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

    def plan(self, *, preferences: Any = None, epilog: Optional[int] = None, epilog_inputs: Any = None, stream: Any = None) -> None:
        """Say F, and make ready. Collective, blocking.

        Parameters
        ----------
        preferences : MatmulPlanPreferences or dict, optional
        epilog : MatmulEpilog, optional
        epilog_inputs : dict, optional
            By name: 'bias' (the rows of D that this rank has), 'relu_aux' and 'gelu_aux' (as `execute` gives them).
        """
        self._check_valid()
        if self._released:
            raise RuntimeError(f"plan() cannot be performed {self._released}: reset_operands gives others")
        self._wait_for(stream, self._operands[0])
        chosen = options_of(MatmulPlanPreferences, preferences, "preferences")
        kind = MatmulEpilogue.DEFAULT if epilog is None else MatmulEpilogue(epilog)
        agree(self._context, lambda: check_preferences(chosen, kind, self._dtype))
        if len(set(agree(self._context, lambda: kind))) != 1:
            raise ValueError("epilog: it is inconsistent across processes")
        all_reduce = kind == MatmulEpilogue.ALLREDUCE
        layout_c = layout_of_c(self._specs, self.mm_traits, all_reduce)
        self._layout_d = layout_of_d(self._specs, self.mm_traits, all_reduce)
        self._layouts[2:] = [] if layout_c is None else [layout_c]
        first = self._specs[0]
        self._expected_algo = algorithm(first.distributions, first.ops, self.mm_traits, all_reduce)
        self._products.clear()
        self._take_arrays()
        self._epilog = Epilog(self._context, kind, self._layout_d, self.mm_traits, self._dtype, self._like)
        self._epilog.take(epilog_inputs)
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
            self.logger.warning("algo_type: %s is none of this product, which goes as DEFAULT", MatmulAlgoType(hint).name)
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
            what the epilog writes beside it, by name.
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
        product.execute(*self._factors)
        self._wait_for(None, self._operands[0])
        if release_workspace:
            product.release()
        self.logger.info("Matmul: done, %s by %s", *self._layouts[:2])
        outputs = {**self._epilog.outputs(), **(self._scales.outputs() if self._scales is not None else {})}
        result = self._operands[2].tensor if self.inplace else out.local
        return (result, outputs) if outputs else result

    # --- other operands

    def _check_reset(self, given: Dict[str, Any], beta: Any, scales: Any, epilog_inputs: Any) -> None:
        self._refuse_what_means_nothing(beta, scales)
        if self._scales is not None:
            self._scales.check(scales)
        if self._released and (len([name for name in "abc" if name in given]) < len(self._facts) or self._misses(epilog_inputs)):
            raise ValueError("reset_operands: after release_operands all operands and epilog_inputs are needed")
        for name, one in given.items():
            if "abc".index(name) >= len(self._facts):
                raise ValueError("reset_operands: there is no C in this product")
            check_facts("reset_operands", "the {} of " + name, wrap_operand(one), self._facts["abc".index(name)])

    def _refuse_what_means_nothing(self, beta: Any, scales: Any) -> None:
        """ValueError: what this product has not. Without a look at other ranks."""
        if beta is not None and len(self._facts) < 3:
            raise ValueError("reset_operands: there is no C in this product, and so no beta")
        if scales is not None and self._scales is None:
            raise ValueError("quantization_scales: only of operands of 8 bits")

    def _misses(self, epilog_inputs: Any) -> bool:
        return self._epilog is not None and bool(inputs_of(self._epilog.kind)) and not epilog_inputs

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
        self._check_valid()
        given = {name: one for name, one in zip("abc", (a, b, c)) if one is not None}
        if not given and alpha is None and beta is None and epilog_inputs is None and quantization_scales is None:
            raise ValueError("reset_operands: nothing is given")
        agree(self._context, lambda: self._check_reset(given, beta, quantization_scales, epilog_inputs))
        self._reset(given, alpha, beta, quantization_scales, epilog_inputs, stream)

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
        self._refuse_what_means_nothing(beta, quantization_scales)
        given = {name: one for name, one in zip("abc", (a, b, c)) if one is not None}
        self._reset(given, alpha, beta, quantization_scales, epilog_inputs, stream)

    def _reset(self, given: Dict[str, Any], alpha: Any, beta: Any, scales: Any, epilog_inputs: Any, stream: Any) -> None:
        if alpha is not None:
            self._factors[0] = self._types.factor("alpha", alpha)
        if beta is not None:
            self._factors[1] = self._types.factor("beta", beta)
        if self._scales is not None:
            self._scales.take(scales)
        for name, one in given.items():
            self._operands["abc".index(name)] = wrap_operand(one)
        self._wait_for(stream, self._operands[0])
        self._released = ""
        if self._planned and given:
            self._take_arrays()
        if self._epilog is not None and epilog_inputs is not None:
            self._epilog.take(epilog_inputs)

    def release_operands(self) -> None:
        """Let go of operands; `reset_operands` gives others. Local."""
        self._check_valid()
        self._operands = [None] * len(self._facts)
        self._arrays = []
        self._products.clear()
        self._released = "after the operands have been released"

    def _drop(self) -> None:
        self._operands, self._arrays, self._epilog, self._products = [], [], None, {}
