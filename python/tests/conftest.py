"""What the tests share: scenarios of the repository and the command line beside which results are laid."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")

# A shell that starts its children in the background lets them ignore interrupts, which the tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(os.environ.get("STICKSLIP_REPOSITORY", Path(__file__).resolve().parents[2]))


@pytest.fixture
def scenarios() -> Path:
    return REPOSITORY / "scenarios"


@pytest.fixture
def command() -> Callable[..., str]:
    """Runs the program `stickslip`, which `cargo xtask test` names in STICKSLIP_PROGRAM."""
    program = os.environ.get("STICKSLIP_PROGRAM")
    if program is None:
        pytest.skip("STICKSLIP_PROGRAM does not name the command line")

    def call(*arguments: object) -> str:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call
