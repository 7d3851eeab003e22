"""Scales of blocks, which no product takes here: each name says so when it is used."""

from __future__ import annotations

from typing import Any

from ......_errors import UnsupportedError

__all__ = [
    "BlockScalingFormat", "apply_mxfp8_scale", "create_mxfp8_scale", "expand_block_scale", "get_block_scale_offset", "get_mxfp8_scale_offset",
    "invert_mxfp8_scale", "quantize_to_fp4", "to_block_scale", "unpack_fp4",
]  # fmt: skip


class _Refused:
    """UnsupportedError when it is called, or asked for anything."""

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self.__doc__ = "UnsupportedError: block scales are not supported."

    def __call__(self, *given: Any, **more: Any) -> Any:
        raise UnsupportedError(f"{self.__name__}: block scales (MXFP8, NVFP4) are not supported; use one scale per matrix")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self()


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    return _Refused(name)
