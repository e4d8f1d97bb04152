"""Integrates the program that `stickslip rewrite --emit python` makes of the conveyor with SciPy.

    stickslip rewrite scenarios/fig001-conveyor-equations.toml --emit python > conveyor.py
    python inclusion_scipy.py conveyor.py > inclusion_scipy.csv

Rows: positions of the two blocks. Radau with rtol 1e-10, atol 1e-13, step at most 20 us.
"""
import runpy
import sys

import scipy
from scipy.integrate import solve_ivp

module = runpy.run_path(sys.argv[1])
times = [0.2, 0.4, 0.6, 0.8, 1.0]
solution = solve_ivp(
    module["rhs"], (0.0, 1.0), module["INITIAL"], method="Radau", rtol=1e-10, atol=1e-13, max_step=2e-5, t_eval=times
)
assert solution.success
print(f"# SciPy {scipy.__version__}, Radau, {solution.nfev} evaluations")
print("t," + ",".join(module["STATES"][:4]))
for k, t in enumerate(solution.t):
    print(f"{float(t)!r}," + ",".join(repr(float(x)) for x in solution.y[:4, k]))
