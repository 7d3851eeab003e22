"""The cell magic ``%%partita`` of IPython and Jupyter."""

from __future__ import annotations

from typing import Any

from .._errors import ArgumentError
from ._ranks import Ranks, newest


def load_ipython_extension(ipython: Any) -> None:
    """For ``%load_ext partita``: adds the cell magic ``%%partita [NAME]``. It runs the cell on the `Ranks` of this name, or on those made
    last. Local.

    Parameters
    ----------
    ipython : InteractiveShell
        The shell of the notebook.
    """

    def partita(line: str, cell: str) -> Any:
        __tracebackhide__ = True
        return _chosen(line.strip(), ipython.user_ns).run(cell)

    partita.__doc__ = Ranks.run.__doc__
    ipython.register_magic_function(partita, "cell", "partita")


def _chosen(name: str, variables: Any) -> Ranks:
    found = variables.get(name) if name else newest()
    if isinstance(found, Ranks):
        return found
    if name:
        raise ArgumentError(f"%%partita {name}: {name} is not a partita.Ranks")
    raise ArgumentError("%%partita: there are no ranks; make some by ranks = partita.Ranks(4)")


__all__ = ["load_ipython_extension"]
