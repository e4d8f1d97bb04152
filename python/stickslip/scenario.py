"""Scenarios: from files, texts, dicts, or put together call by call."""

from __future__ import annotations

import json
import keyword
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from . import _native, _toml
from .errors import ArgumentError, ScenarioError

__all__ = ["Scenario", "Element"]

#: What is taken for a scenario: a `Scenario`, the path of a file, a dict, or the text of a file.
Given: TypeAlias = "Scenario | str | os.PathLike[str] | Mapping[str, Any]"


class Scenario:
    """A system and how it is run: from a file, a text, a dict, or put together here.

    >>> import stickslip as ss
    >>> scenario = ss.Scenario(step=1e-3, duration=2.0)
    >>> scenario = scenario.mass("block", 1.0).driver("hook", velocity=0.1)
    >>> scenario = scenario.spring("spring", "hook", "block", stiffness=90.0)
    >>> scenario = scenario.friction("floor", "block", "ground", kinetic=4.0, static=5.0)
    >>> ss.run(scenario).report["elements"]["floor"]["transitions"] > 0
    True

    A scenario does not change: every call gives another one.

    >>> heavier = scenario.set("bodies.block.mass", "2 kg")
    >>> "2 kg" in heavier.to_toml()
    True

    Args:
        source: A file, a text, a dict, or another scenario; without it an empty one is begun.
        set: Changes, as ``--set`` of the command line takes them: ``{"bodies.block.mass": "2 kg"}``.
        simulation: ``title``, and keys of ``[simulation]``: ``step``, ``duration``, ``integrator``, ``gravity``, ... In a scenario that is
            begun here ``duration`` is 1 s and ``integrator`` is ``"implicit-euler"`` unless given.
    """

    __slots__ = ("_text", "_name", "_folder", "_sets", "_tree")

    def __init__(self, source: Given | None = None, *, set: Mapping[str, Any] | None = None, **simulation: Any) -> None:
        self._tree: dict[str, Any] | None = None
        self._folder: str | None = None
        self._sets: list[str] = []
        self._name = "scenario"
        self._text: str
        if source is None:
            title = simulation.pop("title", None)
            begun = {"duration": 1.0, "integrator": "implicit-euler", **simulation}
            self._begin(_toml.copied({"title": title, "simulation": begun}))
            simulation = {}
        elif isinstance(source, Scenario):
            self._text, self._name, self._folder = source._text, source._name, source._folder
            self._tree, self._sets = source._tree, list(source._sets)
        elif isinstance(source, Mapping):
            # What the caller changes later changes nothing here.
            self._begin(_toml.copied(source))
        elif isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
            path = os.fspath(source)
            if not isinstance(path, str):
                raise ArgumentError(f"expected the path of a scenario file as str, found {path!r}")
            try:
                os.fsencode(path)
            except UnicodeEncodeError:
                raise ScenarioError(f"no file can be named {path!r}", help="remove the lone surrogate") from None
            if "\0" in path:
                raise ScenarioError("a path holds no zero byte", help="name a file")
            self._text = _native.read_text(path)
            # Names of files may hold bytes that are no text; messages are text.
            self._name = path.encode(errors="replace").decode()
            self._folder = str(Path(path).resolve().parent)
        elif isinstance(source, str) and _toml.is_text(source):
            self._text = source
        else:
            raise ArgumentError(f"expected a scenario: a file, a text or a dict, found {type(source).__name__}")
        for key, value in simulation.items():
            self._sets.append(_change("title" if key == "title" else f"simulation.{key}", value))
        if set is not None:
            self._sets += _changes(set)

    def _begin(self, tree: dict[str, Any]) -> None:
        self._tree = tree
        self._text = _toml.document(tree) + "\n"

    def _with(self, table: str, name: str, kind: str, keys: Mapping[str, Any]) -> Scenario:
        """With one more body or element."""
        if not isinstance(name, str):
            raise ArgumentError(f"expected a name, found {name!r}")
        entry = {"kind": kind, **_toml.copied(_given(keys))}
        other = Scenario(self)
        given = ({} if other._tree is None else other._tree.get(table)) or {}
        if not isinstance(given, dict):
            raise ScenarioError(f"`{table}` holds tables by their names, found {given!r}", help=f"{table} = {{}}")
        before = dict(given)
        heading = f"[{table}.{_toml.key(name)}]"
        if name in before or (other._sets or other._tree is None) and heading in self.to_toml().splitlines():
            help = "names are unique; `set` changes a value"
            raise ScenarioError(f"the name {name!r} is taken in `{table}`\nhelp: {help}", help=help)
        if other._tree is None:
            other._sets.append(f"{table}.{_toml.key(name)}={_toml.value(entry)}")
            return other
        before[name] = entry
        other._begin({**other._tree, table: before})
        return other

    # Bodies. Calls have the keys that most scenarios use; every other key of the file goes by its name.

    def body(self, name: str, kind: str, **keys: Any) -> Scenario:
        """Adds a body of any kind with the keys of its table: ``body("pendulum", "equations", coordinates={"theta": 0.3}, ...)``."""
        return self._with("bodies", name, kind, keys)

    def mass(self, name: str, mass: Any, *, position: Any = None, velocity: Any = None, force: Any = None, **keys: Any) -> Scenario:
        """Adds a mass along one, two or three axes."""
        return self.body(name, "mass", mass=mass, position=position, velocity=velocity, force=force, **keys)

    def inertia(self, name: str, inertia: Any, *, position: Any = None, velocity: Any = None, torque: Any = None, **keys: Any) -> Scenario:
        """Adds a rotating inertia."""
        return self.body(name, "inertia", inertia=inertia, position=position, velocity=velocity, torque=torque, **keys)

    def driver(self, name: str, *, position: Any = None, velocity: Any = None, **keys: Any) -> Scenario:
        """Adds a body whose motion is prescribed, by position or by velocity."""
        return self.body(name, "driver", position=position, velocity=velocity, **keys)

    def rigid_body(self, name: str, mass: Any = None, *, shape: Any = None, position: Any = None, velocity: Any = None, **keys: Any) -> Scenario:
        """Adds a rigid body in space, with its ``mass`` or a ``density``; ``shape`` is ``{"sphere": 0.1}`` or ``{"box": [0.1, 0.2, 0.3]}``."""
        return self.body(name, "rigid-body", mass=mass, shape=shape, position=position, velocity=velocity, **keys)

    def linkage(self, name: str, links: Any, **keys: Any) -> Scenario:
        """Adds a tree of links; ``links`` is a list of dicts."""
        return self.body(name, "linkage", links=links, **keys)

    def fixed(self, name: str, *, shape: Any, position: Any = None, **keys: Any) -> Scenario:
        """Adds a body that does not move, for others to touch: ``fixed("table", shape={"plane": {}}, surface_velocity=[0.5, 0, 0])``."""
        return self.body(name, "fixed", shape=shape, position=position, **keys)

    # Elements

    def element(self, name: str, kind: str, first: str | None = None, second: str = "ground", **keys: Any) -> Scenario:
        """Adds an element of any kind between two bodies, or ``on`` a joint, with the keys of its table."""
        if first is not None:
            keys["between"] = [first, second]
        return self._with("elements", name, kind, keys)

    def spring(self, name: str, first: str | None = None, second: str = "ground", *, stiffness: Any, damping: Any = None, **keys: Any) -> Scenario:
        """Adds a spring with a damper."""
        return self.element(name, "spring", first, second, stiffness=stiffness, damping=damping, **keys)

    def friction(
        self,
        name: str,
        first: str | None = None,
        second: str = "ground",
        *,
        law: str = "implicit",
        kinetic: Any = None,
        static: Any = None,
        **keys: Any,
    ) -> Scenario:
        """Adds friction, by default of the law ``implicit``, which needs no parameters."""
        return self.element(name, "friction", first, second, law=law, kinetic=kinetic, static=static, **keys)

    def contact(self, name: str, first: str, second: str = "ground", *, normal: Any, friction: Any = None, surface: Any = None, **keys: Any) -> Scenario:
        """Adds a contact: ``surface={"plane": {"normal": [0, 0, 1], "offset": 0}}, normal={"law": "rigid"}, friction={"law": "implicit", "mu": 0.5}``."""
        return self.element(name, "contact", first, second, normal=normal, friction=friction, surface=surface, **keys)

    def stop(self, name: str, first: str | None = None, second: str = "ground", *, lower: Any = None, upper: Any = None, **keys: Any) -> Scenario:
        """Adds stops that bound a relative position."""
        return self.element(name, "stop", first, second, lower=lower, upper=upper, **keys)

    def joint(self, name: str, first: str, second: str = "ground", *, type: str, at: Any = None, **keys: Any) -> Scenario:
        """Adds a joint between rigid bodies: ``"revolute"``, ``"prismatic"``, ``"spherical"`` or ``"fixed"``."""
        return self.element(name, "joint", first, second, type=type, at=at, **keys)

    def gear(self, name: str, first: str, second: str = "ground", *, ratio: Any, **keys: Any) -> Scenario:
        """Adds a stiff coupling of two motions: ``ratio=[r1, r2]``."""
        return self.element(name, "gear", first, second, ratio=ratio, **keys)

    def actuator(self, name: str, first: str | None = None, second: str = "ground", *, value: Any = 0.0, **keys: Any) -> Scenario:
        """Adds an actuator, which a simulation can take over with ``set``."""
        return self.element(name, "actuator", first, second, value=value, **keys)

    # Scenes

    def contacts(self, between: Any = "all", *, friction: Any = None, normal: Any = None, **keys: Any) -> Scenario:
        """Lets the program find the contacts between shapes.

        >>> import stickslip as ss
        >>> scene = ss.Scenario(step=1e-3, duration=0.1, gravity=[0, 0, -9.81]).contacts(friction={"law": "implicit", "mu": 0.5})
        >>> scene = scene.fixed("table", shape={"plane": {"normal": [0, 0, 1]}})
        >>> scene = scene.rigid_body("box", density="600 kg/m^3", shape={"box": [0.2, 0.2, 0.1]}, position=[0, 0, 0.05])
        >>> touching = ss.run(scene, contacts=True).contacts
        >>> touching["first"][-1], touching["second"][-1]
        ('table', 'box')
        >>> float(touching["force.z"][touching["t"] == 0.1].sum().round(6))  # on the first: the weight of 2.4 kg
        -23.544
        """
        return self.set("contacts", _given({"between": between, "friction": friction, "normal": normal, **keys}))

    def material(self, name: str, *, mu: Any = None, mu_static: Any = None, restitution: Any = None, **keys: Any) -> Scenario:
        """Adds a material, which bodies name: ``rigid_body("box", material="steel", ...)``."""
        if not isinstance(name, str):
            raise ArgumentError(f"expected a name, found {name!r}")
        entry = _given({"mu": mu, "mu_static": mu_static, "restitution": restitution, **keys})
        return self.set(f"materials.{_toml.key(name)}", entry)

    # Changes and views

    def set(self, key: str, value: Any) -> Scenario:
        """The scenario with another value: ``set("bodies.block.mass", "2 kg")``."""
        other = Scenario(self)
        other._sets.append(_change(key, value))
        return other

    def to_toml(self) -> str:
        """The scenario as the text of a file, with all changes."""
        return _native.to_toml(self._source())

    def check(self) -> dict[str, Any]:
        """What ``stickslip check --json`` says: what was chosen and why, margins, warnings.

        >>> import stickslip as ss
        >>> block = ss.Scenario(step=1e-3).mass("block", 1.0, force=6.0).friction("floor", "block", kinetic=10.0)
        >>> block.check()["frictions"][0]["stick_margin"]
        0.4
        """
        found: dict[str, Any] = json.loads(_native.check(self._source()))
        return found

    def _source(self) -> tuple[str, str, str | None, list[str]]:
        return self._text, self._name, self._folder, self._sets

    def __repr__(self) -> str:
        changes = f" with {len(self._sets)} changes" if self._sets else ""
        return f"<Scenario {self._name}{changes}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._source() == other._source()

    def __hash__(self) -> int:
        return hash((self._text, self._name, tuple(self._sets)))

    def __getstate__(self) -> tuple[Any, ...]:
        return self._text, self._name, self._folder, self._sets, self._tree

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._text, self._name, self._folder, self._sets, self._tree = state


class Element:
    """An element of your own for `Simulation`: a force as a function of motion, time and states.

    Every step calls Python several times, so it is slow: some microseconds a step. What is to run in sweeps, or fast, belongs in the file as
    ``kind = "equations"``.

    >>> import stickslip as ss
    >>> class Bushing(ss.Element):
    ...     between = ("block", "ground")
    ...     def force(self, t, x, v, z):
    ...         return -100.0 * x - 1e4 * x**3
    >>> block = ss.Scenario(step=1e-4, integrator="rk4").mass("block", 1.0, position=0.1)
    >>> simulation = ss.Simulation(block, elements={"bushing": Bushing()})
    >>> simulation.step(10)
    >>> round(simulation.force("bushing"), 2)  # -(100*0.1 + 1e4*0.1³)
    -20.0

    Attributes:
        between: Names of the two ends; a joint of a linkage is ``"arm.elbow"``.
        states: Names and initial values of states of its own.
    """

    between: tuple[str, str] = ("", "ground")
    states: Mapping[str, float] = {}

    def force(self, t: float, x: Any, v: Any, z: tuple[float, ...]) -> Any:
        """Force on the first end: a number, or one per axis. ``x`` and ``v`` are the relative motion, ``z`` the states."""
        raise NotImplementedError("an element of your own needs a method `force(self, t, x, v, z)`")

    def rates(self, t: float, x: Any, v: Any, z: tuple[float, ...]) -> Any:
        """Rates of the states."""
        return [0.0] * len(z)


def _given(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Keys that have a value. Those that are words of Python are written with an underscore, as is usual: ``except_``."""
    return {key[:-1] if key.endswith("_") and keyword.iskeyword(key[:-1]) else key: value for key, value in keys.items() if value is not None}


def _is_path(text: str) -> bool:
    """One line is the name of a file, unless it is an assignment: ``title = "x"``. Names of files may have an ``=``, too."""
    return "\n" not in text and ("=" not in text or text.endswith(".toml") or os.path.isfile(text))


def _change(key: object, value: Any) -> str:
    if not _toml.is_text(key) or not isinstance(key, str):
        raise ArgumentError(f"expected a key such as \"bodies.block.mass\", found {key!r}")
    if "=" in key:
        raise ScenarioError(f"the key {key!r} has an `=`", help="write the path of a key: bodies.block.mass")
    return f"{key}={_toml.value(value)}"


def _changes(changes: object) -> list[str]:
    if not isinstance(changes, Mapping):
        raise ArgumentError(f"expected a dict of changes, found {type(changes).__name__}")
    return [_change(key, value) for key, value in changes.items()]


def _source(given: Given, changes: Mapping[str, Any] | None = None) -> tuple[str, str, str | None, list[str]]:
    """What the native part takes for a scenario."""
    scenario = given if isinstance(given, Scenario) and changes is None else Scenario(given, set=changes)
    return scenario._source()
