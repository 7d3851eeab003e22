"""What all distributions have."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, ClassVar, List, Optional, Sequence, Tuple, Type

from .... import _core
from ...._create import joined_shape
from ...._mesh import Rule
from .._agreement import raised_on_all
from .._context import current

Shape = Tuple[int, ...]


@raised_on_all
class BindDistributionError(Exception):
    """A shape that does not suit the distribution, or a distribution that has its shape already."""


@raised_on_all
class ConvertDistributionError(Exception):
    """A distribution that is none of the wanted kind."""


class Distribution(ABC):
    """Which process has which part; a rule, or one that is bound to a global shape."""

    #: All processes give the same; of others each gives its own.
    _same_everywhere: ClassVar[bool]

    def __init__(self) -> None:
        self._bound = False
        self._data_global_shape: Shape = ()
        self._data_shape: Shape = ()

    @property
    @abstractmethod
    def ndim(self) -> Optional[int]:
        """Of the arrays that it is for; None: of any."""

    @abstractmethod
    def to(self, cls: Type[Distribution], /, *, ndim: Optional[int] = None, copy: bool = False) -> Any:
        """The same as a distribution of another kind, with dimensions of extent 1 behind it up to `ndim`.

        Raises
        ------
        ConvertDistributionError
            It is none.
        """

    @abstractmethod
    def _rule(self, everyone: Sequence[Distribution]) -> Rule:
        """As Partita has it. `everyone`: what all ranks have given, by rank."""

    @abstractmethod
    def _suits(self, what: str, dimensions: int, part: Shape) -> None:
        """ValueError where it has other dimensions than the part, or says another shape of it."""

    @abstractmethod
    def _uncut(self, dimensions: int) -> List[int]:
        """The axes along which each process has the whole."""

    def _covers(self, what: str, whole: Shape, parts: Sequence[Shape]) -> None:
        """ValueError where all parts together are not the whole, which only boxes may get wrong."""

    def copy(self) -> Any:
        """Another one alike."""
        return copy.copy(self)

    def shape(self, rank: int, global_shape: Optional[Sequence[int]] = None) -> Shape:
        """The shape of a rank's part; of the global shape that it is bound to, if none is given."""
        return self._layout(self._whole_shape(rank, global_shape)).local_shape(rank)

    def _whole_shape(self, rank: int, global_shape: Optional[Sequence[int]]) -> Shape:
        size = current().process_group.nranks
        if not isinstance(rank, int) or not 0 <= rank < size:
            raise ValueError(f"rank {rank!r} is not one of the {size} ranks")
        if global_shape is None:
            if not self._bound:
                raise RuntimeError(f"{self} is not bound to a shape: pass global_shape")
            return self._data_global_shape
        whole = tuple(int(extent) for extent in global_shape)
        if self._bound and whole != self._data_global_shape:
            raise ValueError(f"{self} is already bound to a different global shape than {whole}")
        return whole

    def _layout(self, global_shape: Shape) -> _core.Layout:
        return _core.Layout(self._rule([self]), global_shape, current().process_group.nranks)

    def _bind(self, global_shape: Sequence[int], *, shape: Optional[Sequence[int]] = None) -> Any:
        """Takes a global shape, and this rank's where that is to be compared. Local."""
        if self._bound:
            raise BindDistributionError(f"{self} is already bound")
        whole = tuple(int(extent) for extent in global_shape)
        if self.ndim is not None and len(whole) != self.ndim:
            raise ValueError(f"{self} has {self.ndim} dimensions, but the shape {whole} has {len(whole)}")
        mine = self.shape(current().process_group.rank, whole)
        if shape is not None and tuple(shape) != mine:
            raise BindDistributionError(f"{self} gives this rank {mine} of {whole}, got {tuple(shape)}")
        self._data_global_shape, self._data_shape, self._bound = whole, mine, True
        return self

    def _checked(self, cls: Type[Distribution], ndim: Optional[int]) -> None:
        if cls is Distribution or not (isinstance(cls, type) and issubclass(cls, Distribution)):
            raise ValueError(f"{cls!r} is not a kind of distribution")
        if ndim is not None and self.ndim is not None and ndim < self.ndim:
            raise ValueError(f"ndim: {self} has {self.ndim} dimensions, and cannot have {ndim}")

    def _rebound(self, other: Any, ndim: int) -> Any:
        """The other one bound to the shape of this, if this is bound."""
        return other._bind(longer(self._data_global_shape, ndim, 1)) if self._bound else other

    def _bound_text(self) -> str:
        return f" of {self._data_global_shape}" if self._bound else ""


def longer(extents: Sequence[int], ndim: int, filler: int) -> Shape:
    """With so many dimensions."""
    return tuple(extents) + (filler,) * (ndim - len(extents))


def require_one_rule(what: str, everyone: Sequence[Distribution]) -> None:
    """ValueError where ranks give distributions that are no rule of all: of several kinds, or different ones."""
    kinds = {type(one).__name__ for one in everyone}
    if len(kinds) != 1:
        raise ValueError(f"{what}: the kinds of distribution are inconsistent across processes: {', '.join(sorted(kinds))}")
    for one in everyone:
        if one._same_everywhere and one != everyone[0]:
            raise ValueError(f"{what}: the distribution is inconsistent across processes: {everyone[0]} and {one}")


def layout_of(what: str, everyone: Sequence[Distribution], parts: List[Shape]) -> _core.Layout:
    """The layout that the local shapes of all ranks add up to. Local: all ranks know what all have given.

    Raises
    ------
    ValueError, BindDistributionError
        Parts that do not go together.
    """
    require_one_rule(what, everyone)
    if len({len(part) for part in parts}) != 1:
        raise ValueError(f"{what}: the number of dimensions is inconsistent across processes: {[len(part) for part in parts]}")
    dimensions = len(parts[0])
    for one, part in zip(everyone, parts):
        one._suits(what, dimensions, part)
    rule = everyone[0]._rule(everyone)
    whole = joined_shape(rule, parts)
    everyone[0]._covers(what, whole, parts)
    layout = _core.Layout(rule, whole, len(parts))
    for rank, part in enumerate(parts):
        if layout.local_shape(rank) != part:
            uneven = f"{everyone[0]} gives rank {rank} {layout.local_shape(rank)} of {whole}, got {part}"
            if any(part[axis] != whole[axis] for axis in everyone[0]._uncut(dimensions)):
                raise ValueError(f"{what}: the problem size is inconsistent across processes: {uneven}")
            raise BindDistributionError(f"{what}: {uneven}")
    return layout
