"""Environments for reinforcement learning (Gymnasium): a scenario whose actuators an agent sets.

>>> import stickslip as ss
>>> cart = ss.Scenario(step=1e-3, duration=1).mass("cart", 1.0).friction("rail", "cart", kinetic=2.0, static=3.0)
>>> cart = cart.actuator("motor", "cart")
>>> env = ss.gym.make(
...     cart, actions=["motor"], observations=["cart.position", "cart.velocity"],
...     reward="-abs(cart.position - 0.1)", limits={"motor": (-10, 10)}, steps=10,
... )
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step([5.0])
>>> observation.shape, bool(terminated), bool(truncated)
((2,), False, False)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._native import Batch, Simulation
from ._toml import is_text, reals
from .errors import ArgumentError, Error, RunError
from .scenario import Given, Scenario
from .studies import _texts, _whole

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise Error("environments need gymnasium\nhelp: pip install gymnasium") from error

__all__ = ["make", "make_vector", "Environment", "VectorEnvironment"]

Limits = Mapping[str, tuple[float, float]]


class _Task:
    """What single and vectorised environments share: names, spaces, formulas."""

    def __init__(
        self,
        scenario: Given,
        actions: Sequence[str],
        observations: Sequence[str],
        reward: str,
        terminated: str | None,
        limits: Limits | None,
        steps: int,
        noise: Mapping[str, float] | None,
    ) -> None:
        self.scenario = Scenario(scenario)
        self.actions, self.observations = _texts(actions, "actions"), _texts(observations, "observations")
        if not self.actions or not self.observations:
            raise ArgumentError("name at least one actuator in `actions` and one column in `observations`")
        self.steps = _whole(steps, "steps")
        for formula in (reward, *([] if terminated is None else [terminated])):
            if not is_text(formula):
                raise ArgumentError(f"expected a formula of columns and actions as str, found {formula!r}")
        probe = Simulation(self.scenario)
        for name in self.observations:
            probe.signal(name)
        for name in self.actions:
            probe.set(name, 0.0)
        self.columns = probe.columns
        # At least one step: the last action of a run may be shorter than the others.
        self.most = max(1, round(probe.duration / (probe.step_size * steps)))
        names = [*self.columns, *self.actions]
        self.used = [name for name in names if name in reward or (terminated is not None and name in terminated)]
        self.used_columns = [name for name in self.used if name in self.columns]
        self.reward = _native.Expression(reward, self.used, names)
        self.terminated = None if terminated is None else _native.Expression(terminated, self.used, names)
        try:
            given = dict(limits or {})
            bounds = reals([given.pop(name, (-np.inf, np.inf)) for name in self.actions])
        except (TypeError, ValueError):
            raise ArgumentError(f"expected a dict of bounds {{name: (low, high)}} for `limits`, found {limits!r}") from None
        if given or bounds.shape != (len(self.actions), 2) or not (bounds[:, 0] < bounds[:, 1]).all():
            raise ArgumentError(f"expected bounds (low, high) of {', '.join(self.actions)} for `limits`, found {limits!r}")
        self.action_space = spaces.Box(bounds[:, 0], bounds[:, 1], dtype=np.float64)
        wide = np.full(len(self.observations), np.inf)
        self.observation_space = spaces.Box(-wide, wide, dtype=np.float64)
        try:
            self.noise = {body: reals(spread).item() for body, spread in dict(noise or {}).items()}
        except (TypeError, ValueError):
            raise ArgumentError(f"expected a dict {{body: standard deviation}} for `noise`, found {noise!r}") from None
        for body, spread in self.noise.items():
            if not 0 <= spread < np.inf:
                raise ArgumentError(f"expected a standard deviation of {body!r}, found {spread!r}")
            probe.set_position(body, probe.position(body))
        self.free = {body: _free(probe, body) for body in self.noise}

    def clipped(self, action: Any) -> NDArray[np.float64]:
        try:
            values = reals(action)
        except (TypeError, ValueError):
            values = np.array(np.nan)
        if values.shape[-1:] != (len(self.actions),) or not np.isfinite(values).all():
            raise ArgumentError(f"expected {len(self.actions)} finite numbers for {', '.join(self.actions)}, found {action!r}")
        box = self.action_space
        return np.clip(values, box.low, box.high)

    def start(self, random: np.random.Generator) -> dict[str, NDArray[np.float64]]:
        """By body, what is added to its position at the start."""
        shifts = {}
        for body, spread in self.noise.items():
            free = self.free[body]
            shifts[body] = np.zeros(len(free))
            shifts[body][free] = random.normal(0.0, spread, size=int(free.sum()))
        return shifts


def _seed(seed: object) -> int | None:
    return None if seed is None else _whole(seed, "seed", least=0)


def _free(simulation: Simulation, body: str) -> NDArray[np.bool_]:
    """Which coordinates of a body are lengths and angles: all but the quaternion of one that turns freely, which has one rate less."""
    free = np.ones(np.size(simulation.position(body)), dtype=bool)
    if len(free) > np.size(simulation.velocity(body)):
        free[3:7] = False
    return free


class Environment(gymnasium.Env[NDArray[np.float64], NDArray[np.float64]]):
    """A scenario as an environment; see `make`."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, task: _Task) -> None:
        self._task = task
        self.simulation = Simulation(task.scenario)
        self.action_space = task.action_space
        self.observation_space = task.observation_space
        self._count = 0

    def _observe(self) -> NDArray[np.float64]:
        return np.array([self.simulation.signal(name) for name in self._task.observations])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[np.float64], dict[str, Any]]:
        super().reset(seed=_seed(seed))
        self.simulation.reset()
        for body, shift in self._task.start(self.np_random).items():
            self.simulation.set_position(body, np.atleast_1d(self.simulation.position(body)) + shift)
        self._count = 0
        return self._observe(), {}

    def step(self, action: Any) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        task, info = self._task, dict[str, Any]()
        values = task.clipped(action)
        if values.ndim != 1:
            raise ArgumentError(f"expected the actions of one environment, found an array of shape {values.shape}")
        for name, value in zip(task.actions, values):
            self.simulation.set(name, float(value))
        failed = False
        try:
            self.simulation.step(task.steps)
        except RunError as error:
            failed, info["error"] = True, str(error)
        self._count += 1
        given = dict(zip(task.actions, values))
        numbers = [float(given[n]) if n in given else self.simulation.signal(n) for n in task.used]
        ended = failed or (task.terminated is not None and task.terminated(numbers) != 0)
        return self._observe(), task.reward(numbers), ended, self._count >= task.most, info


class VectorEnvironment(VectorEnv[NDArray[np.float64], NDArray[np.float64], NDArray[Any]]):
    """Many environments at once, on a `Batch`; see `make_vector`. An environment that ended begins again with the next step."""

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, task: _Task, count: int) -> None:
        self._task = task
        self.num_envs = count
        self.batch = Batch([task.scenario] * count)
        self.single_action_space, self.single_observation_space = task.action_space, task.observation_space
        self.action_space = batch_space(task.action_space, count)
        self.observation_space = batch_space(task.observation_space, count)
        self._counts = np.zeros(count, dtype=np.int64)
        self._ended = np.zeros(count, dtype=bool)

    def _observe(self) -> NDArray[np.float64]:
        return np.stack([self.batch.signal(name) for name in self._task.observations], axis=1)

    def _begin(self, which: NDArray[np.int64]) -> None:
        self.batch.reset(which)
        if self._task.noise:
            shifts = [self._task.start(self.np_random) for _ in which]
            for body, free in self._task.free.items():
                places = self.batch.position(body).reshape(self.num_envs, len(free))[which]
                self.batch.set_position(body, places + np.stack([shift[body] for shift in shifts]), which)
        self._counts[which] = 0
        self._ended[which] = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[np.float64], dict[str, Any]]:
        super().reset(seed=_seed(seed))
        self._begin(np.arange(self.num_envs))
        return self._observe(), {}

    def step(self, actions: Any) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        task, info = self._task, dict[str, Any]()
        values = task.clipped(actions)
        if values.shape != (self.num_envs, len(task.actions)):
            raise ArgumentError(f"expected actions of {self.num_envs} environments, found an array of shape {values.shape}")
        again = np.flatnonzero(self._ended)
        for i, name in enumerate(task.actions):
            self.batch.set(name, np.ascontiguousarray(values[:, i]))
        failed = np.zeros(self.num_envs, dtype=bool)
        try:
            self.batch.step(task.steps)
        except RunError as error:
            failed[error.runs] = True
            failed[again] = False
            if failed.any():
                # As Gymnasium has it: an array over environments, and which of them it is about.
                info["error"], info["_error"] = np.where(failed, str(error), "").astype(object), failed.copy()
        self._counts += 1
        if len(again):
            self._begin(again)
        seen = {name: self.batch.signal(name) for name in task.used_columns}
        seen.update(zip(task.actions, values.T))
        rows = np.stack([seen[name] for name in task.used], axis=1) if task.used else np.zeros((self.num_envs, 0))
        reward = task.reward.rows(rows)
        ended = failed.copy()
        if task.terminated is not None:
            ended |= task.terminated.rows(rows) != 0
        late = self._counts >= task.most
        # A step that begins anew has no reward.
        reward[again], ended[again], late[again] = 0.0, False, False
        self._ended = ended | late
        return self._observe(), reward, ended, late, info


def make(
    scenario: Given,
    *,
    actions: Sequence[str],
    observations: Sequence[str],
    reward: str,
    terminated: str | None = None,
    limits: Limits | None = None,
    steps: int = 1,
    noise: Mapping[str, float] | None = None,
) -> Environment:
    """A scenario as a Gymnasium environment.

    Args:
        scenario: A file, a dict, a text or a `Scenario`; its duration is that of an episode.
        actions: Names of actuators.
        observations: Names of columns.
        reward: A formula of columns and actions, in the language of scenario files.
        terminated: A formula that is not 0 where an episode ends.
        limits: Bounds of actions by name.
        steps: Steps between two actions.
        noise: By body: standard deviation of its position at the start, of every coordinate but those of a rotation in space.
    """
    return Environment(_Task(scenario, actions, observations, reward, terminated, limits, steps, noise))


def make_vector(
    scenario: Given,
    count: int,
    *,
    actions: Sequence[str],
    observations: Sequence[str],
    reward: str,
    terminated: str | None = None,
    limits: Limits | None = None,
    steps: int = 1,
    noise: Mapping[str, float] | None = None,
) -> VectorEnvironment:
    """As `make`, ``count`` environments at once on a `Batch`."""
    return VectorEnvironment(_Task(scenario, actions, observations, reward, terminated, limits, steps, noise), _whole(count, "count"))
