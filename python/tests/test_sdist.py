"""The source distribution has all that a build needs, and nothing of the rest of the workspace."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import REPOSITORY

MATURIN = shutil.which("maturin", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


@pytest.mark.skipif(MATURIN is None or shutil.which("cargo") is None, reason="needs maturin and cargo")
def test_a_source_distribution_is_whole(tmp_path: Path) -> None:
    assert MATURIN is not None
    subprocess.run([MATURIN, "sdist", "--out", tmp_path], cwd=REPOSITORY / "python", check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data") if hasattr(tarfile, "data_filter") else packed.extractall(tmp_path)
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    for path in (REPOSITORY / "python" / "stickslip").glob("*.*"):
        assert (folder / "stickslip" / path.name).read_bytes() == path.read_bytes()
    # Its own workspace: every crate that the package is built from, by their own paths, with versions that are locked.
    arguments = ["cargo", "metadata", "--format-version", "1", "--offline"]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    packages = {package["name"]: package for package in json.loads(done.stdout)["packages"]}
    members = {name for name, package in packages.items() if package["source"] is None}
    assert members == {"stickslip", "stickslip-core", "stickslip-study", "stickslip-py"}
    for name in members:
        path = Path(packages[name]["manifest_path"])
        assert folder in path.parents
        ours = REPOSITORY / "crates" / name
        for kind in ("src", "templates"):
            for source in (ours / kind).rglob("*.*"):
                assert (path.parent / source.relative_to(ours)).read_bytes() == source.read_bytes()
    locked = {package["name"]: package["version"] for package in json.loads(done.stdout)["packages"]}
    text = (REPOSITORY / "Cargo.lock").read_text()
    for name, version in locked.items():
        assert f'name = "{name}"\nversion = "{version}"' in text, name
