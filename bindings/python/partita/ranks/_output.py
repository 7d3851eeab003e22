"""What ranks print, as the notebook shows it."""

from __future__ import annotations

import re
import sys
import time
from collections import deque
from typing import Deque, Dict, List, Sequence, Set, Tuple, Union

from .._errors import ArgumentError

#: 'lines', 'merged', or the ranks whose output is shown.
Output = Union[str, int, Sequence[int]]
_streams = ("stdout", "stderr")


def checked_output(output: Output, size: int) -> Output:
    """ArgumentError for anything else than a form of `Output`."""
    if output in ("lines", "merged"):
        return output
    try:
        chosen = [output] if isinstance(output, int) else [int(one) for one in output]
    except (TypeError, ValueError):
        chosen = [-1]
    if not all(0 <= one < size for one in chosen):
        raise ArgumentError(f"Ranks: output: expected 'lines', 'merged', a rank or ranks below {size}, got {output!r}")
    return output


class Printer:
    """Prints the output of one call. All methods are for the thread that makes the call.

    Parameters
    ----------
    patience
        Seconds that a merged line waits for the same line of other ranks.
    """

    def __init__(self, size: int, output: Output, patience: float) -> None:
        self._merged = output == "merged"
        self._shown = range(size) if isinstance(output, str) else [output] if isinstance(output, int) else list(output)
        self._labelled = size > 1 and len(self._shown) != 1
        self._patience = patience
        self._size = size
        self._partial: Dict[Tuple[str, int], str] = {}
        self._waiting: Dict[str, Dict[int, Deque[Tuple[float, str]]]] = {one: {rank: deque() for rank in range(size)} for one in _streams}
        self._over: Set[int] = set()

    def add(self, rank: int, stream: str, text: str) -> None:
        """What the rank has printed."""
        if rank not in self._shown:
            return
        if not self._labelled:
            _write(stream, text)
            return
        *lines, rest = re.split(r"(?<=[\n\r])(?<!\r(?=\n))", self._partial.pop((stream, rank), "") + text)
        if rest:
            self._partial[stream, rank] = rest
        for line in lines:
            self._line(rank, stream, line)
        self.look()

    def end(self, rank: int) -> None:
        """The rank prints no more."""
        self._over.add(rank)
        for stream in _streams:
            rest = self._partial.pop((stream, rank), "")
            if rest:
                self._line(rank, stream, rest + "\n")
        self.look()

    def look(self) -> None:
        """Print merged lines that all ranks have printed, or that have waited long enough."""
        for stream, waiting in self._waiting.items():
            while True:
                first = {rank: lines[0] for rank, lines in waiting.items() if lines}
                others = self._size - len(self._over | set(first))
                if not first or (others and time.monotonic() < min(at for at, _ in first.values()) + self._patience):
                    break
                groups: Dict[str, List[int]] = {}
                for rank, (_, line) in first.items():
                    groups.setdefault(line, []).append(rank)
                    waiting[rank].popleft()
                for line, ranks in groups.items():
                    _write(stream, f"[{ranks_in_words(ranks)}] {line}")

    def finish(self) -> None:
        """The call is over."""
        for rank in range(self._size):
            self.end(rank)
        for stream in _streams:
            getattr(sys, stream).flush()

    def _line(self, rank: int, stream: str, line: str) -> None:
        if self._merged:
            self._waiting[stream][rank].append((time.monotonic(), line))
        else:
            _write(stream, f"[{rank}] {line}")


def _write(stream: str, text: str) -> None:
    into = getattr(sys, stream)
    try:
        into.write(text)
    except UnicodeEncodeError:
        into.write(text.encode(into.encoding, "backslashreplace").decode(into.encoding))


def ranks_in_words(ranks: Sequence[int]) -> str:
    """'0', '0,2', '0-3,5'."""
    parts: List[List[int]] = []
    for rank in sorted(ranks):
        if parts and parts[-1][-1] == rank - 1:
            parts[-1].append(rank)
        else:
            parts.append([rank])
    return ",".join(f"{one[0]}-{one[-1]}" if len(one) > 1 else str(one[0]) for one in parts)


__all__ = ["Output", "Printer", "checked_output", "ranks_in_words"]
