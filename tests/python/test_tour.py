"""The notebook runs from top to bottom, and shows what it says."""

import pathlib

import pytest

NOTEBOOK = pathlib.Path(__file__).parents[2] / "examples/python/tour.ipynb"


def test_the_tour():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    pictures = [one.data["image/svg+xml"] for cell in cells for one in cell.outputs if "image/svg+xml" in one.get("data", {})]
    assert len(pictures) == 4 and all("<svg" in one for one in pictures)
    assert "the call that moves" in cells[7].outputs[0].text
    shown = {at: cell.outputs[0].data["text/plain"] for at, cell in enumerate(cells) if cell.outputs and "data" in cell.outputs[0]}
    assert float(shown[8].strip("(").split(",")[0]) < 1e-12 and "True, True, True" in shown[10]
