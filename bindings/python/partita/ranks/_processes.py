"""Ranks that are processes: started by the command `partita run`, or by mpirun before the notebook connects to them."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .._errors import ArgumentError, Error, LostPeerError
from ._connections import SECRET_VARIABLE, accepted, connected, new_name, opened_door, read_address, receive_descriptors
from ._team import Team

#: Device and options of `initialize`.
Opening = Tuple[str, Dict[str, Any]]


class ProcessTeam(Team):
    """Rank processes that have said who they are."""

    def __init__(self, links: Sequence[Any], opening: Opening, launcher: Optional[_Launcher] = None) -> None:
        found: Dict[int, Tuple[Any, List[int], int]] = {}
        for link in links:
            link.send(("open", *opening, [os.getcwd(), *sys.path]))
        pending = {link: receive_descriptors(link, 3) for link in links}
        while pending:
            for link in wait(list(pending), 0.1):
                outputs = pending.pop(link)
                rank, process = _introduced(link, outputs, len(links), launcher)
                found[rank] = link, outputs, process
        ordered = [found[rank] for rank in range(len(links))]
        self._processes = [process for _, _, process in ordered]
        self._launcher = launcher
        self._has_killed = False
        super().__init__([link for link, _, _ in ordered], [outputs for _, outputs, _ in ordered])

    def kill(self) -> None:
        for rank in list(self.alive):
            self._has_killed = True
            try:
                os.kill(self._processes[rank], signal.SIGKILL)
            except OSError:  # it has ended in this moment
                pass
        if self._launcher is not None:
            self._launcher.end()
        self.release()

    def why_lost(self, rank: int) -> str:
        code = 0 if self._launcher is None or self._has_killed else self._launcher.code()
        if code > 128:
            return f"rank {rank} was ended by signal {code - 128} ({_name_of(code - 128)})"
        return f"rank {rank} has ended" + (f" with exit code {code}" if code else "")


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "?"


def _introduced(link: Any, outputs: List[int], size: int, launcher: Optional[_Launcher]) -> Tuple[int, int]:
    """Rank and process number of the process at the other end."""
    try:
        kind, *said = link.recv()
    except (EOFError, OSError):
        raise LostPeerError(f"Ranks: a rank has ended before it had a context{_said(launcher)}") from None
    if kind == "refused":
        raise Error(f"Ranks: the ranks cannot make a context: {said[0][1]}")
    from .__main__ import versions

    rank, ranks, process, *theirs = said
    if tuple(theirs) != tuple(versions()):
        raise Error(f"Ranks: the ranks run {' and '.join(theirs)} of Python and Partita, the notebook {' and '.join(versions())}")
    if ranks != size:
        raise Error(f"Ranks: {size} ranks were started, and they are {ranks} in Partita")
    return rank, process


def _said(launcher: Optional[_Launcher]) -> str:
    text = "" if launcher is None else launcher.said()
    return f": {text}" if text else ""


# --- started here


class _Launcher:
    """The process of `partita run`."""

    def __init__(self, command: List[str], environment: Dict[str, str]) -> None:
        self._log = tempfile.TemporaryFile()
        # Outside of the terminal's process group: Ctrl-C there is for the notebook, which interrupts the ranks.
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, start_new_session=True
        )

    def code(self) -> int:
        """Its exit code: that of the lowest rank that failed, 128 + signal if it was killed."""
        try:
            return self._process.wait(5)
        except subprocess.TimeoutExpired:
            return 0

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def said(self) -> str:
        """The last lines that it and ranks without a notebook have printed."""
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return " / ".join(lines[-5:])

    def end(self) -> None:
        for kill in (self._process.terminate, self._process.kill):
            try:
                self._process.wait(2)
                break
            except subprocess.TimeoutExpired:
                kill()
        self._process.wait()
        self._log.close()


def started(size: int, opening: Opening, launcher: Optional[str]) -> ProcessTeam:
    """New processes on this machine; `launcher`: None for the library's own, 'mpi', or the path of an MPI's."""
    name, secret = new_name(), secrets.token_bytes(32)
    how = ["--threads", str(size)] if launcher is None else ["-n", str(size)]
    if launcher not in (None, "mpi"):
        how += ["--launcher", str(launcher)]
    program = [sys.executable, "-m", "partita.ranks", "--join", name]
    environment = {**os.environ, SECRET_VARIABLE: secret.hex()}
    folder = str(Path(__file__).parents[2])
    environment["PYTHONPATH"] = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    links: List[Any] = []
    with opened_door(name, size) as door:
        process = _Launcher([_command(), "run", "-q", *how, "--", *program], environment)
        try:
            while len(links) < size:
                link = accepted(door, secret, 0.1)
                if link is not None:
                    links.append(link)
                elif process.has_ended():
                    raise LostPeerError(f"Ranks: the ranks could not be started{_said(process)}")
            return ProcessTeam(links, opening, process)
        except BaseException:
            for link in links:
                link.close()
            process.end()
            raise


def _command() -> str:
    """The command `partita` of this package: in a wheel, in the build folder or prefix of the package, or in the PATH."""
    here = Path(__file__).parents[1]
    for path in (here / "bin/partita", here.parents[1] / "bin/partita", *(one / "bin/partita" for one in list(here.parents)[2:5])):
        if os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("partita")
    if found is None:
        raise Error("Ranks: there is no command `partita`, which starts processes; install it, or use kind='threads'")
    return found


# --- started before


def connected_to(path: str, opening: Opening) -> ProcessTeam:
    """The processes of ``mpirun python -m partita.ranks --listen PATH``."""
    name, secret, ranks = read_address(path, 10)
    links: List[Any] = []
    try:
        for rank in range(ranks):
            try:
                links.append(connected(f"{name}-{rank}", secret))
            except OSError as error:
                raise ArgumentError(f"Ranks: rank {rank} of {path} does not listen: {error}; it has ended, or has another notebook") from None
        return ProcessTeam(links, opening)
    except BaseException:
        for link in links:
            link.close()
        raise


__all__ = ["Opening", "ProcessTeam", "connected_to", "started"]
