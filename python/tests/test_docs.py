"""The examples of the pages run, block by block."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import REPOSITORY

PAGES = [REPOSITORY / "docs" / "python.md", REPOSITORY / "README.md", REPOSITORY / "python" / "README.md"]
BLOCKS = [
    (page, number, text)
    for page in PAGES
    for number, text in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M))
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block[0].parent.name}/{block[0].name}-{block[1]}")
def test_an_example_runs(block: tuple[Path, int, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(REPOSITORY)
    exec(compile(block[2], f"{block[0]}, block {block[1]}", "exec"), {})


def test_there_are_examples() -> None:
    assert len({page for page, _, _ in BLOCKS}) == len(PAGES)


def test_the_native_part_documents_itself() -> None:
    import doctest

    import stickslip as ss

    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    examples = 0
    for kind in (ss.Simulation, ss.Batch):
        for name in dir(kind):
            assert name.startswith("_") or getattr(kind, name).__doc__, f"{kind.__name__}.{name} has no docstring"
        test = doctest.DocTestParser().get_doctest(kind.__doc__ or "", {}, kind.__name__, None, 0)
        examples += len(test.examples)
        runner.run(test)
    assert examples > 5 and runner.failures == 0


def test_the_package_carries_the_licences_of_the_repository() -> None:
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (REPOSITORY / "python" / name).read_bytes() == (REPOSITORY / name).read_bytes()
