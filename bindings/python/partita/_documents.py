"""Docstrings: parameters that many functions share are described once, here, and added to the docstring of each."""

import inspect
import re
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Tuple

_parameters: Dict[str, Tuple[str, str]] = {
    "a": ("Array", "The first operand."),
    "array": ("Array", "The array."),
    "axes": ("sequence of int, optional", "The axes; unset: all."),
    "axis": ("int or sequence of int", "The axis or axes; unset: all."),
    "b": ("Array", "The second operand."),
    "context": ("Context", "The ranks that make the call."),
    "counts": ("sequence of int", "Rows of each rank's part along dimension 0; unset: equal parts."),
    "destination": ("array", "Array for the result, which is returned; unset: a new array."),
    "distribution": ("distribution", "A distribution (`Slab(0)`), its text ('slab:0'), or a spec (`P('x', None)`) inside ``with mesh:``."),
    "dtype": ("dtype", "A NumPy dtype or its name; also 'bfloat16', 'float8_e4m3fn' and 'float8_e5m2'."),
    "group": ("Group", "The ranks that make the call; unset: the group of the innermost ``with group:``."),
    "heap": ("bool", "Allocate on the symmetric heap, where ranks of a node access each other's parts; False: in ordinary memory."),
    "json": ("bool", "Return JSON."),
    "keepdims": ("bool", "Keep reduced axes, with extent 1."),
    "machine": ("str", "Name or file of a machine description; unset: PARTITA_MACHINE, or 'laptop'."),
    "norm": ("{'backward', 'ortho', 'forward'}", "The transform that has the factor 1/N: the inverse, both its root, or the forward one; unset: 'backward'."),
    "order": ("{'C', 'F'}", "Memory order of the local parts of the result."),
    "out": ("Array", "Array for the result, which is returned; unset: a new array."),
    "path": ("path", "A file that all ranks can access."),
    "peer": ("int", "The other rank."),
    "rank": ("int", "The number of a rank."),
    "reduction": ("str", "'sum', 'product', 'min', 'max', 'logical_and', 'logical_or', 'logical_xor', 'bit_and', 'bit_or' or 'bit_xor'."),
    "root": ("int", "The root rank."),
    "shape": ("int or sequence of int", "Global shape of the array."),
    "source": ("array or number", "This rank's operand."),
    "space": ("{'host', 'device'}", "Memory space of the result; unset: that of the context's device, or else the host."),
    "steps": ("bool", "Also list the steps."),
    "stream": ("stream", "Stream for work on device memory; unset: the current stream of the array's package. See docs/python.md."),
    "tag": ("int", "Messages are matched by sender and tag."),
    "topology": ("Topology", "The number of ranks, and the ranks of each node."),
}  # fmt: skip

of_array = {
    "axis": ("int or sequence of int", "The axes to reduce; unset: all."),
    "distribution": ("distribution", "Distribution of a result over axes; unset: what remains of the array's, or else Replicated."),
    "dtype": ("dtype", "As for `empty`."),
    "index": ("sequence of int", "A global index."),
    "initial": ("number", "As for `Array.sum`."),
    "out": ("None", "Not supported."),
    "root": ("int", "The rank that gets a result over axes, instead of a distribution."),
    "value": ("number", "The value."),
    "where": ("Array, numpy.ndarray or bool", "As for `Array.sum`."),
}

of_context = {
    "ar1": ("Array", "The first array."),
    "ar2": ("Array", "The second array."),
    "method": ("str", "As for `quantile`."),
    "q": ("number or sequence of numbers", "Between 0 and 1, or for percentiles 0 and 100; a sequence gives a result with its dimensions first."),
    "initial": ("number", "As for `Array.sum`."),
    "where": ("Array, numpy.ndarray or bool", "As for `Array.sum`."),
    "x": ("Array", "The array."),
    "why": ("str", "The reason, which the other ranks report."),
}

of_module: Dict[str, Dict[str, Tuple[str, str]]] = {
    "fft": {
        "a": ("Array", "The input."),
        "axes": ("sequence of int", "The transformed axes; unset: all, or with `s` the last ones."),
        "axis": ("int", "The transformed axis."),
        "n": ("int", "Length along the axis; a shorter one crops, a longer one pads with zeros. Unset: that of the input."),
        "options": ("", "See the module."),
        "orthogonalize": ("bool", "See `dctn`."),
        "s": ("sequence of int", "Lengths along the axes; shorter ones crop, longer ones pad with zeros. Unset: those of the input."),
        "type": ("int", "The type of the transform, 1 to 4."),
        "x": ("Array", "The input."),
    },
    "linalg": {
        "base": ("int", "Rows of the largest matrix that one rank computes; larger ones are divided. 0: chosen by Partita."),
        "hermitian": ("bool", "As in NumPy; singular values are computed in the same way."),
        "op": ("str", "'none', 'transpose', 'conjugate-transpose' or 'conjugate'."),
        "options": ("", "Of a new X: distribution, order, heap and space; see the module."),
        "out": ("Array", "Array for X, which is returned: `b` itself, or one that does not overlap it; unset: a new array."),
        "x": ("Array", "The array."),
    },
    "io": {"dataset": ("str", "Name of the dataset, with its groups.")},
    "plans": {"dtype": ("str", "The dtype of the elements."), "rank": ("int", "The rank whose plan is meant.")},
    "spectral": {
        "axes": ("sequence of int", "The periodic axes, along which fields are transformed; unset: all."),
        "field": ("Array", "A real or complex field."),
        "lengths": ("sequence of float", "The period along each of the axes; unset: 2 pi."),
    },
    "trace": {},
}

_section = re.compile(r"^([A-Z][a-z]+)\n-+\n", re.M)


def complete(owner: Any, names: Iterable[str], parameters: "Mapping[str, Tuple[str, str]]" = {}) -> None:
    """Adds the missing parameters to the docstrings of functions, classes and public methods; `parameters` come before the shared ones."""
    known = {**_parameters, **parameters}
    for name in names:
        one = vars(owner).get(name)
        if inspect.isfunction(one) or (inspect.isclass(one) and _is_documented_class(one)):
            one.__doc__ = _completed(inspect.cleandoc(one.__doc__ or ""), one, known)
        if inspect.isclass(one) and _is_documented_class(one):
            complete(one, [method for method in vars(one) if not method.startswith("_")], parameters)


def state_callers(functions: "Mapping[str, Any]", names: Iterable[str], local: "Mapping[str, str]") -> None:
    """Adds who makes the call to the docstrings of functions that do not say it: the sentence in `local`, or else that it is collective."""
    for name in names:
        one = functions[name]
        if inspect.isfunction(one) and not re.search(r"\b(Collective|Local)\b", one.__doc__ or ""):
            first, _, rest = (one.__doc__ or "").partition("\n")
            one.__doc__ = f"{first} {local.get(name, 'Collective, blocking.')}" + (f"\n{rest}" if rest else "")


def _is_documented_class(one: Any) -> bool:
    return one.__module__.startswith("partita.") and "__init__" in vars(one) and not issubclass(one, BaseException)


class _Parameter(NamedTuple):
    name: str
    stars: str = ""
    default: str = ""


def _parameters_of(one: Any) -> List[_Parameter]:
    """Those of a function, or that make an instance of a class; `inspect.signature` takes as long as the rest of the import."""
    function = one.__init__ if inspect.isclass(one) else one
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code, first = function.__code__, function.__code__.co_argcount
    many = first + code.co_kwonlyargcount
    positional, named, rest = code.co_varnames[:first], code.co_varnames[first:many], iter(code.co_varnames[many:])
    defaults = {**dict(zip(reversed(positional), reversed(function.__defaults__ or ()))), **(function.__kwdefaults__ or {})}
    found = [_Parameter(name) for name in positional]
    found += [_Parameter(next(rest), "*")] if code.co_flags & inspect.CO_VARARGS else []
    found += [_Parameter(name) for name in named]
    found += [_Parameter(next(rest), "**")] if code.co_flags & inspect.CO_VARKEYWORDS else []
    return [one._replace(default=_default(defaults[one.name])) if one.name in defaults else one for one in found if one.name != "self"]


def _default(value: Any) -> str:
    return ", optional" if value is None or value == () else f", default {value!r}"


def _completed(text: str, one: Any, known: "Mapping[str, Tuple[str, str]]") -> str:
    """The docstring with an entry for each parameter, in the order of the signature."""
    if inspect.isclass(one) and not inspect.isfunction(one.__init__):  # which is compiled
        return text
    signature = _parameters_of(one)
    before, given, after = _split(text)
    place = {parameter.name: index for index, parameter in enumerate(signature)}
    described = {name for names, _ in given for name in names}
    entries = [(min([place.get(name, len(place)) for name in names]), entry) for names, entry in given]
    for parameter in signature:
        if parameter.name not in described and parameter.name in known:
            kind, meaning = known[parameter.name]
            title = f"{parameter.stars}{parameter.name}" + (f" : {kind}{parameter.default}" if kind else "")
            entries.append((place[parameter.name], f"{title}\n    {meaning}\n"))
    if not entries:
        return text
    listed = "".join(entry for _, entry in sorted(entries, key=lambda entry: entry[0]))
    return f"{before.rstrip()}\n\nParameters\n----------\n{listed}{chr(10) + after if after else ''}"


def _split(text: str) -> "Tuple[str, List[Tuple[List[str], str]], str]":
    """What precedes the section of parameters, its entries by the names that they describe, and the sections after it."""
    sections = list(_section.finditer(text))
    start = next((one for one in sections if one[1] == "Parameters"), None)
    if start is None:
        end = sections[0].start() if sections else len(text)
        return text[:end], [], text[end:]
    end = next((one.start() for one in sections if one.start() > start.start()), len(text))
    entries = re.findall(r"^\S.*\n(?:(?: .*)?\n)*", text[start.end() : end].rstrip() + "\n", re.M)
    return text[: start.start()], [([n.strip(" *") for n in e.split("\n")[0].split(" : ")[0].split(",")], e) for e in entries], text[end:]
