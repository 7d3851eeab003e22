"""XLA flags that are set before it compiles, unless the program has set them.

For GPUs XLA (with JAX 0.11) wraps a call of which an operand is a slice, or of which the result is written into one, into a fusion.
Partita's calls have a token, which is not an array, and the compiler ends the process over that ("Check failed: shape.IsArray() ||
shape.IsTuple()", seen with JAX 0.11.2). So the flag excludes them.
"""

import os

_fusion = "xla_gpu_enable_dynamic_slice_fusion"
_given = os.environ.get("XLA_FLAGS", "")
if _fusion not in _given:
    os.environ["XLA_FLAGS"] = f"{_given} --{_fusion}=false".strip()
