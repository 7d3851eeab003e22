"""One product."""

from __future__ import annotations

from typing import Any, Optional, Sequence

from ..._agreement import collective
from ...distribution import Distribution
from ._product import Matmul, OptionsLike


@collective
def matmul(
    a: Any,
    b: Any,
    /,
    c: Any = None,
    *,
    distributions: Sequence[Distribution],
    alpha: Any = None,
    beta: Any = None,
    epilog: Optional[int] = None,
    epilog_inputs: Any = None,
    qualifiers: Any = None,
    quantization_scales: Any = None,
    options: OptionsLike = None,
    preferences: Any = None,
    stream: Any = None,
) -> Any:
    """D = F(alpha op(A) op(B) + beta C), this rank's part. Collective, blocking; see `Matmul`."""
    with Matmul(
        a,
        b,
        c,
        distributions=distributions,
        alpha=alpha,
        beta=beta,
        qualifiers=qualifiers,
        quantization_scales=quantization_scales,
        options=options,
        stream=stream,
    ) as product:
        product.plan(preferences=preferences, epilog=epilog, epilog_inputs=epilog_inputs, stream=stream)
        return product.execute(stream=stream)
