"""The notebooks run from top to bottom."""

from __future__ import annotations

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))


def test_there_are_four() -> None:
    assert len(NOTEBOOKS) == 4


@pytest.fixture(autouse=True)
def backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels draw into the notebook, whatever the shell that runs the tests wants."""
    monkeypatch.delenv("MPLBACKEND", raising=False)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()


def test_pictures_are_shown_once_and_movies_play() -> None:
    begin = "import stickslip as ss\nresult = ss.run(ss.Scenario(step=1e-2).mass('a', 1.0, velocity=1.0).friction('f', 'a', kinetic=2.0))\n"
    cells = [begin + "result.plot()", "result.plot();", "figure = result.plot()\nprint(1)", "result.animate(frames=3)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    shown = [[kind for output in cell.outputs for kind in output.get("data", {})] for cell in notebook.cells]
    assert [kinds.count("image/png") for kinds in shown] == [1, 1, 1, 0]
    assert "text/html" in shown[3]


def test_what_a_cell_gives_is_shown_where_the_shell_chose_a_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    begin = "import stickslip as ss\nresult = ss.run(ss.Scenario(step=1e-2).mass('a', 1.0, velocity=1.0).friction('f', 'a', kinetic=2.0))\n"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(begin + "result.plot()")])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    kinds = [kind for output in notebook.cells[0].outputs for kind in output.get("data", {})]
    assert kinds.count("image/png") == 1
