"""How far long work is: on a terminal and in a notebook, after a while, and nothing elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

SCRIPT = """
import stickslip as ss
block = ss.Scenario(step=1e-3, duration=2).mass("a", 1.0, velocity=1.0).mass("b", 1.0).spring("s", "a", "b", stiffness=9.0).friction("f", "a", kinetic=0.1)
def long():
    import stickslip._progress as progress
    progress._PATIENCE = 0.05  # in place of 2 s, which take as long to wait for
    ss.sweep(block, {"bodies.a.mass": "lin:1:2:3000"}, "t_end", threads=1)
"""


def test_a_terminal_shows_it_and_is_clean_afterwards() -> None:
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    work = subprocess.Popen([sys.executable, "-c", SCRIPT + "long()"], stderr=follower, stdout=subprocess.PIPE)
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    out = work.communicate()[0]
    assert work.returncode == 0 and out == b""
    percents = [int(text) for text in re.findall(rb"(\d+) %", shown)]
    assert percents == sorted(percents) and len(percents) > 1, percents
    assert shown.endswith(b"\r\x1b[K")


def test_nothing_is_shown_elsewhere() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT + "long()"], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_notebook_shows_a_bar_and_takes_it_away() -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SCRIPT + "long()")])
    bars = []

    class Watched(nbclient.NotebookClient):
        def process_message(self, message, cell, index):
            if message["msg_type"] in ("display_data", "update_display_data"):
                bars.append(message["content"]["data"].get("text/html", ""))
            return super().process_message(message, cell, index)

    Watched(notebook, timeout=120, kernel_name="python3").execute()
    parts = [float(text) for bar in bars for text in re.findall(r"<progress value='([\d.]+)'", bar)]
    assert len(parts) > 1 and parts == sorted(parts)
    assert bars[-1] == ""
