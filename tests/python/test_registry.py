"""What ranks that are threads share in the modules of the package: each method of a registry is one step for other threads."""

import ast
import pathlib
import sys
import threading

import pytest

import partita as pt
from partita._registry import Counter, Numbers, OfThreads, Registry

THREADS = 8


@pytest.fixture
def switching():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(body):
    """`body(thread)` in several threads, and what they return."""
    results, errors, gate = [None] * THREADS, [], threading.Barrier(THREADS)

    def each(number):
        try:
            gate.wait()
            results[number] = body(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=each, args=(number,)) for number in range(THREADS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not errors, errors
    return results


def test_numbers_are_of_their_values(switching):
    numbers = Numbers()

    def each(_):
        return all(numbers.at(numbers.number_of((value % 500,))) == (value % 500,) for value in range(3000))

    assert all(at_once(each))
    assert sorted(numbers.number_of((value,)) for value in range(500)) == list(range(500))


def test_counters_give_each_number_once(switching):
    counter = Counter()
    found = at_once(lambda _: [counter.next() for _ in range(2000)])
    assert sorted(sum(found, [])) == list(range(1, 2000 * THREADS + 1))


@pytest.mark.parametrize("weak", [False, True])
def test_registries_are_walked_while_others_change_them(switching, weak):
    class Value:
        pass

    registry = Registry(weak=weak)

    def each(thread):
        kept = {}
        for i in range(400):
            key = (thread, i % 20)
            kept[key] = Value()
            registry.put(key, kept[key])
            assert registry.get(key) is kept[key] and key in registry
            assert len({one for one, _ in registry.items()}) <= 20 * THREADS and len(registry) >= 1
            if i % 20 == 19:
                taken = registry.take_all(lambda value: value in set(kept.values()))
                assert len(taken) == 20
                kept.clear()

    at_once(each)
    assert len(registry) == 0


def test_registries_make_each_value_once(switching):
    registry, made = Registry(), []

    def make(key):
        made.append(key)
        return [key]

    found = at_once(lambda _: [registry.find_or_make(key, lambda: make(key)) for key in range(200)])
    assert len(made) == 200 and all(one is other for row in found for one, other in zip(row, found[0]))
    with pytest.raises(ZeroDivisionError):
        registry.find_or_make("none", lambda: 1 / 0)
    assert "none" not in registry and registry.take("none") is None and registry.take(3) == [3]


def test_threads_see_what_others_have(switching):
    board = OfThreads()

    def each(_):
        thread = threading.get_ident()
        for i in range(1000):
            board.put(thread, i)
            assert board.has(thread) and board.count() >= 1 and board.copy()[thread] == i
            assert board.take(thread, None) == i and board.take(thread, None) is None

    at_once(each)
    assert board.count() == 0


def test_layouts_of_torch_have_one_number_each(switching):
    pytest.importorskip("torch")
    from partita.torch._operators import layout_at, number_of_layout

    layouts = [pt.Layout(pt.Slab(0), (one, 3), 2) for one in range(1, 400)]
    found = at_once(lambda _: [number_of_layout(one) for one in layouts])
    assert all(row == found[0] for row in found) and len(set(found[0])) == len(layouts)
    assert all(layout_at(number) == one for number, one in zip(found[0], layouts))


CHANGING = {"append", "add", "pop", "popitem", "update", "setdefault", "clear", "remove", "discard", "extend", "insert"}


def changed_in_functions(tree):
    """Names of the module that its functions change in place."""
    names = {target.id for one in tree.body if isinstance(one, (ast.Assign, ast.AnnAssign)) and one.value is not None
             for target in (one.targets if isinstance(one, ast.Assign) else [one.target]) if isinstance(target, ast.Name)
             if isinstance(one.value, (ast.Dict, ast.List, ast.Set))
             or (isinstance(one.value, ast.Call) and ast.unparse(one.value.func).rpartition(".")[2]
                 in ("dict", "list", "set", "count", "deque", "defaultdict", "WeakValueDictionary", "WeakKeyDictionary", "WeakSet"))}  # fmt: skip
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)):
            continue
        for one in ast.walk(function):
            if isinstance(one, ast.Subscript) and not isinstance(one.ctx, ast.Load) and getattr(one.value, "id", None) in names:
                yield one.value.id
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and getattr(one.func.value, "id", None) in names:
                if one.func.attr in CHANGING:
                    yield one.func.value.id
            if isinstance(one, ast.Call) and getattr(one.func, "id", None) == "next" and getattr(one.args[0], "id", None) in names:
                yield one.args[0].id


def test_modules_keep_what_changes_in_registries():
    """No module changes a dictionary, list, set or counter of its own in a function."""
    folder = pathlib.Path(pt.__file__).parent
    found = {f"{path.relative_to(folder)}: {name}" for path in folder.rglob("*.py") for name in changed_in_functions(ast.parse(path.read_text()))}
    assert not found
    assert set(changed_in_functions(ast.parse("a = {}\nb = []\nc = itertools.count()\ndef f():\n a[1] = 2\n b.append(1)\n next(c)"))) == {*"abc"}
