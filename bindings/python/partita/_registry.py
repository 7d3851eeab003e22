"""What ranks that are threads of one process share: every dictionary, list and counter of a module.

A look-up followed by an insertion is two steps for other threads, and so is a loop over a dictionary. So modules keep such
state in these classes alone, each method of which is one step.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Callable, ClassVar, Dict, Generic, Hashable, List, MutableMapping, Optional, Tuple, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Registry(Generic[Key, Value]):
    """A dictionary for several threads. Thread-safe.

    Parameters
    ----------
    weak : bool
        Values are not kept alive, and their entries go with them.
    """

    _registries: ClassVar[weakref.WeakSet[Registry[Any, Any]]] = weakref.WeakSet()

    def __init__(self, *, weak: bool = False) -> None:
        # Reentrant: a finalizer that the collector runs inside of a method may come here, too.
        self._lock = threading.RLock()
        Registry._registries.add(self)
        self._all: MutableMapping[Key, Value] = weakref.WeakValueDictionary() if weak else {}

    def get(self, key: Key) -> Optional[Value]:
        """The value; None where there is none."""
        with self._lock:
            return self._all.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Insert or replace."""
        with self._lock:
            self._all[key] = value

    def find_or_make(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value, made by the first thread that asks; others wait for it. What `make` raises leaves no entry."""
        with self._lock:
            found = self._all.get(key)
            if found is None:
                found = self._all[key] = make()
            return found

    def take(self, key: Key) -> Optional[Value]:
        """Remove the entry and return its value; None where there is none."""
        with self._lock:
            return self._all.pop(key, None)

    def items(self) -> List[Tuple[Key, Value]]:
        """A copy of the entries, in the order in which their keys were inserted."""
        with self._lock:
            return list(self._all.items())

    def take_all(self, chosen: Callable[[Value], bool] = lambda _: True) -> List[Value]:
        """Remove the entries whose values are chosen, by default all, and return those, in the order of insertion."""
        with self._lock:
            taken = [(key, value) for key, value in list(self._all.items()) if chosen(value)]
            for key, _ in taken:
                self._all.pop(key, None)
            return [value for _, value in taken]

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return key in self._all

    def __len__(self) -> int:
        with self._lock:
            return len(self._all)


    @classmethod
    def _renew_locks(cls) -> None:
        """In a child: a thread that held one when the process forked does not exist here."""
        for one in list(cls._registries):
            one._lock = threading.RLock()


os.register_at_fork(after_in_child=Registry._renew_locks)


class Numbers(Generic[Key]):
    """Numbers 0, 1, 2, ... for values, equal ones for equal values, which are kept. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: Dict[Key, int] = {}
        self._values: List[Key] = []

    def number_of(self, value: Key) -> int:
        """The number of the value, the next one where it has none."""
        number = self._numbers.get(value)
        if number is not None:
            return number
        with self._lock:
            number = self._numbers.get(value)
            if number is None:
                number = len(self._values)
                self._values.append(value)  # first: who finds the number may ask for its value at once
                self._numbers[value] = number
            return number

    def at(self, number: int) -> Key:
        """The value of a number that `number_of` has given."""
        return self._values[number]


class OfThreads(Generic[Value]):
    """What each thread has at the moment, which it alone inserts and removes, and others look at. Thread-safe.

    For each call of the package: there is no lock, and each method is one operation of a dictionary, which no other thread
    interrupts.
    """

    def __init__(self) -> None:
        all_: Dict[int, Value] = {}
        #: Insert or replace that of the thread of this number.
        self.put: Callable[[int, Value], None] = all_.__setitem__
        #: Remove it, and return it, or the default.
        self.take: Callable[[int, Optional[Value]], Optional[Value]] = all_.pop
        #: That of a thread; None where it has none.
        self.get: Callable[[int], Optional[Value]] = all_.get
        #: Whether that thread has one.
        self.has: Callable[[int], bool] = all_.__contains__
        #: How many threads have one.
        self.count: Callable[[], int] = all_.__len__
        #: A copy: by thread, in the order in which they came.
        self.copy: Callable[[], Dict[int, Value]] = all_.copy


class Counter:
    """Numbers 1, 2, 3, ..., each given once. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> int:
        """The number after the last one."""
        with self._lock:
            self._last += 1
            return self._last
