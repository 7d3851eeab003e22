"""The Python code of the documents runs as it is shown, on any number of ranks."""

import pathlib
import re

import numpy as np
import pytest

import partita as pt

DOCS = pathlib.Path(__file__).parents[2] / "docs"
#: Of other packages' documents those sections whose code is complete.
SECTIONS = {"analysis": "", "choosing": "", "linalg": "", "migrating": "", "python": "", "torch": "## Linear algebra", "jax": "## Linear algebra"}


def code_in(name, section):
    text = (DOCS / f"{name}.md").read_text()
    text = re.split(r"^## ", text.split(f"{section}\n", 1)[1], maxsplit=1, flags=re.M)[0] if section else text
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


BLOCKS = [
    pytest.param(name, code, id=f"{name}-{number}")
    for name, section in SECTIONS.items()
    for number, code in enumerate(code_in(name, section), 1)
]


@pytest.mark.parametrize("name, code", BLOCKS)
def test_block(ctx, name, code):
    if name in ("jax", "torch"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    exec(compile(code, "block", "exec"), {"np": np, "pt": pt, "ctx": ctx})


def test_readme_shows_the_examples():
    readme = (DOCS.parent / "README.md").read_text()
    for name in ("rows_to_columns_mpi4py.py", "rows_to_columns.py"):
        text = (DOCS.parent / "examples/python" / name).read_text()
        shown = text.split("# [shown in README.md]\n")[1].split("# [end]")[0].rstrip()
        assert f"```python\n{shown}\n```" in readme, name
