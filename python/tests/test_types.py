"""The stubs say what is there, and examples with types run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


def test_stubs_are_those_of_the_compiled_part(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    allowed = tmp_path / "allowed"
    allowed.write_text("stickslip._native.__all__\n")  # of everything, made by the compiler
    stubtest = [sys.executable, "-m", "mypy.stubtest", "stickslip._native", "--allowlist", str(allowed)]
    done = subprocess.run(stubtest, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_users_of_the_package_are_checked_strictly(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    user = tmp_path / "user.py"
    user.write_text(
        "import stickslip as ss\n"
        "cart = ss.Scenario(step=1e-3).mass('cart', 1.0).actuator('motor', 'cart')\n"
        "env = ss.gym.make(cart, actions=['motor'], observations=['cart.position'], reward='1')\n"
        "wrong: int = ss.run(cart)\n"
        "ss.Simulation(cart).step('1')\n"
        "ss.gym.make_vector(cart, actions=[], observations=[], reward='1')\n"
    )
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(user)], capture_output=True, text=True, cwd=tmp_path)
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[1] for line in lines] == ["4", "5", "6"], done.stdout + done.stderr


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path.stem != "costs"], ids=lambda path: path.stem)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0 and done.stdout, done.stderr
