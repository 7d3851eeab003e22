"""The notebook runs from top to bottom, and shows what it says."""

import pathlib

import pytest

NOTEBOOK = pathlib.Path(__file__).parents[2] / "examples/python/tour.ipynb"


def test_the_tour():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    pictures = [one.data["image/svg+xml"] for cell in cells for one in cell.outputs if "image/svg+xml" in one.get("data", {})]
    assert len(pictures) == 5 and all("<svg" in one for one in pictures)
    printed = ["".join(one.text for one in cell.outputs if one.output_type == "stream") for cell in cells]
    assert sorted(printed[6].splitlines()) == [f"[{rank}] (50, 3) of (200, 3)" for rank in range(4)]
    assert "the call that moves" in printed[9]
    shown = [[one.data["text/plain"] for one in cell.outputs if "data" in one] for cell in cells]
    assert shown[8] == ["(3,)"] and float(shown[10][0].strip("(").split(",")[0]) < 1e-12 and shown[12] == ["[True, True, True, True]"]
