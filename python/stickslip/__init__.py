"""Mechanical systems with friction and contact: what sticks, sticks exactly.

>>> import stickslip as ss
>>> block = ss.Scenario(step=1e-3, duration=4).mass("block", 1.0).driver("hook", velocity="if(t <= 2, 2, 0)")
>>> block = block.spring("spring", "hook", "block", stiffness=90.0).friction("floor", "block", kinetic=10.0)
>>> result = ss.run(block)
>>> result.report["final"]["block.velocity"]
0.0

`run` runs a scenario, `Simulation` steps one, `Batch` steps many; `sweep`, `map`, `compare`, `experiment` and `analyse` are studies.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from . import errors
from ._native import Batch, Simulation, __version__
from .errors import ArgumentError, Error, Interrupted, MissingError, RunError, ScenarioError, _AbsentError
from .result import Comparison, Contacts, Cycles, Experiment, Map, Result, Table
from .scenario import Element, Scenario
from .studies import analyse, compare, evaluate, experiment, experiments, laws, map, rewrite, run, sweep

if TYPE_CHECKING:
    from . import gym

__all__ = [
    "ArgumentError",
    "Batch",
    "Comparison",
    "Contacts",
    "Cycles",
    "Element",
    "Error",
    "Experiment",
    "Interrupted",
    "Map",
    "MissingError",
    "Result",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Simulation",
    "Table",
    "__version__",
    "analyse",
    "compare",
    "errors",
    "evaluate",
    "experiment",
    "experiments",
    "laws",
    "map",
    "rewrite",
    "run",
    "sweep",
]


# Without `gym`, which not everybody has: `from stickslip import *` takes what is in `__all__`.
def __dir__() -> list[str]:
    return [*__all__, "gym"]


def __getattr__(name: str) -> object:
    # Gymnasium is imported only by those who use it.
    if name == "gym":
        try:
            return import_module(".gym", __name__)
        except Error as error:
            # Who asks whether there is a `gym` gets an answer (hasattr), who uses it the reason.
            raise _AbsentError(str(error)) from error
    raise AttributeError(f"module 'stickslip' has no attribute {name!r}")
