"""The Python code of the documents runs as it is shown, on any number of ranks."""

import pathlib
import re

import numpy as np
import pytest

import partita as pt

DOCS = pathlib.Path(__file__).parents[2] / "docs"
BLOCKS = [
    pytest.param(code, id=f"{name}-{number}")
    for name in ("analysis", "choosing", "linalg", "migrating")
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```$", (DOCS / f"{name}.md").read_text(), re.M | re.S), 1)
]


@pytest.mark.parametrize("code", BLOCKS)
def test_block(ctx, code):
    exec(compile(code, "block", "exec"), {"np": np, "pt": pt, "ctx": ctx})


def test_readme_shows_the_examples():
    readme = (DOCS.parent / "README.md").read_text()
    for name in ("rows_to_columns_mpi4py.py", "rows_to_columns.py"):
        text = (DOCS.parent / "examples/python" / name).read_text()
        shown = text.split("# [shown in README.md]\n")[1].split("# [end]")[0].rstrip()
        assert f"```python\n{shown}\n```" in readme, name
