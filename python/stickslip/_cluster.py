"""Sweeps on a Dask cluster: chunks of rows, one for each thread of a worker, which runs its rows side by side in lanes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._progress import Progress
from .errors import Error
from .studies import _column

if TYPE_CHECKING:
    from ._types import Source

_FEWEST_CHUNKS, _LARGEST_CHUNK, _MOST_SENT = 4, 4096, 256
#: Time between two looks for what has come, s.
_GLANCE = 0.02
_HELP = "help: client = distributed.Client(...)"
_CLOSED = ("closing", "closed")


def _sweep_part(source: Source, axes: list[str], measures: list[str], rows: tuple[int, int]) -> Any:
    """Runs on a worker."""
    return _plain(_native.sweep(source, axes, measures, rows, 1, _while_wanted()))


def _map_part(source: Source, x: str, y: str, rows: tuple[int, int]) -> Any:
    """Runs on a worker."""
    return _plain(_native.map(source, x, y, None, rows, 1, _while_wanted())[0])


def _while_wanted() -> Callable[[float], None] | None:
    """Called now and then by the work on a worker: ends what was cancelled, for which nobody waits and others would."""
    from distributed import get_worker

    try:
        worker = get_worker()
        key, tasks = worker.get_current_task(), worker.state.tasks
    except (AttributeError, KeyError, ValueError):
        return None

    def tell(_: float) -> None:
        task = tasks.get(key)
        if task is None or task.state == "cancelled":
            raise Error("cancelled")

    return tell


def _plain(table: Any) -> Any:
    header, lines, columns, doubts, raised = table
    if raised is not None:
        raise raised
    return header, lines, columns, doubts


def _chunks(rows: int, threads: int, chunk: int | None) -> list[tuple[int, int]]:
    """Ranges of rows: several for every thread, as some rows take longer, and not too many for the scheduler. The first are short: whatever a row
    takes, there is soon something that Ctrl-C would keep."""
    threads = max(threads, 1)
    most = chunk or max(1, min(_LARGEST_CHUNK, -(-rows // (_FEWEST_CHUNKS * threads))))
    size, start = chunk or 1, 0
    ranges: list[tuple[int, int]] = []
    while start < rows:
        ranges.append((start, min(start + size, rows)))
        start += size
        if len(ranges) % threads == 0:
            size = min(2 * size, most)
    return ranges


@contextmanager
def _noted() -> Iterator[list[int]]:
    """Notes Ctrl-C in place of raising it anywhere in Dask, parts of which swallow it (what it does after a garbage collection). A handler that is
    not Python's own stays, and does what it does."""
    noted: list[int] = []
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    try:
        yield noted
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _usable(client: Any) -> None:
    if not hasattr(client, "submit") or not hasattr(client, "nthreads") or getattr(client, "asynchronous", False):
        raise Error(f"`client` is no Dask client that can be waited for\n{_HELP}")
    if getattr(client, "status", None) in _CLOSED:
        raise Error(f"the Dask client is closed\n{_HELP}")


def _gather(
    client: Any, part: Callable[..., Any], arguments: tuple[Any, ...], count: Callable[[], int], chunk: int | None
) -> tuple[list[Any], bool]:
    """The parts in order, and whether Ctrl-C ended it: then those before the first that is not done. The first that fails, fails all, once."""
    pending: dict[Any, Any] = {}
    done: dict[int, Any] = {}
    try:
        _usable(client)
        # What is wrong with the scenario is found here, once, before anything is sent.
        rows = count()
        try:
            _collect(client, part, arguments, rows, chunk, pending, done)
        except (Error, KeyboardInterrupt):
            raise
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
            help = "is the client connected, and is stickslip on the workers?"
            raise Error(f"the Dask cluster could not do the rows: {found}\nhelp: {help}") from error
    except KeyboardInterrupt:
        # Only what is here already: asking a worker now may take long, or find it gone.
        return [done[number] for number in takewhile(done.__contains__, range(len(done)))], True
    finally:
        # Whatever is wrong with the client now, what ended the work is what is said.
        with suppress(Exception):
            for future in pending.values():
                # Not `cancel`: for that the scheduler takes a time that grows with the square of their number.
                future.release()
    return [done[number] for number in range(len(done))], False


def _collect(
    client: Any,
    part: Callable[..., Any],
    arguments: tuple[Any, ...],
    rows: int,
    chunk: int | None,
    pending: dict[Any, Any],
    done: dict[int, Any],
) -> None:
    """Sends chunks, and keeps what they give under their numbers."""
    from distributed import as_completed

    ranges = _chunks(rows, sum(client.nthreads().values()), chunk)
    begin: Any = as_completed
    arriving = begin([], loop=client.loop, with_results=True)
    # Keys of this call alone: another call of the same sweep is other work.
    call = os.urandom(8).hex()
    numbers: dict[Any, int] = {}

    def keep() -> None:
        while arriving.has_ready():
            future, outcome = next(arriving)
            if future.status != "finished":
                raise Error(f"the Dask client no longer waits for the rows: they are {future.status}") from (
                    outcome if isinstance(outcome, BaseException) else None
                )
            # Let go of at once: a worker that is lost later takes nothing along.
            pending.pop(future.key).release()
            done[numbers[future.key]] = outcome
        if client.status in _CLOSED:
            raise Error("the Dask client was closed before all rows were there")

    with Progress("of the rows") as tell, _noted() as noted:
        sent, block = 0, 0
        while len(done) < len(ranges) and not noted:
            if sent < len(ranges):
                # Many in one message. Their names and priorities have them done in order, so that Ctrl-C finds the first rows.
                some = range(sent, min(len(ranges), 2 * sent + _FEWEST_CHUNKS, sent + _MOST_SENT))
                keys = [f"stickslip-{call}-{number:0{len(str(len(ranges)))}}" for number in some]
                numbers.update(zip(keys, some))
                spans = ranges[some.start : some.stop]
                futures = client.map(partial(part, *arguments), spans, key=keys, pure=False, retries=0, priority=-block)
                pending.update(zip(keys, futures))
                arriving.update(futures)
                sent, block = some.stop, block + 1
            if not arriving.has_ready():
                # Dask's own thread sends and receives meanwhile.
                time.sleep(_GLANCE)
            keep()
            if tell is not None:
                tell(len(done) / len(ranges))
    if noted:
        raise KeyboardInterrupt


def _joined(parts: list[Any], stopped: bool) -> Any:
    columns = []
    for number in range(len(parts[0][2])):
        arrays = [_column(part[2][number]) for part in parts]
        kinds = {array.dtype for array in arrays}
        # A chunk without any number knows no more than that nothing was measured.
        if len(kinds) > 1:
            floats = [a.astype(float) if all(v is None for v in a) else a for a in arrays]
            arrays = floats if len({a.dtype for a in floats}) == 1 else [a.astype(object) for a in arrays]
        columns.append(np.concatenate(arrays))
    lines = "".join(part[1] for part in parts)
    doubts = [doubt for part in parts for doubt in part[3]]
    return parts[0][0], lines, columns, doubts, KeyboardInterrupt() if stopped else None


def sweep_on(client: Any, source: Source, axes: list[str], measures: list[str], chunk: int | None) -> Any:
    """Rows of a sweep as the native part gives them."""
    parts, stopped = _gather(client, _sweep_part, (source, axes, measures), lambda: _native.sweep_size(source, axes, measures), chunk)
    return _joined(parts or [_plain(_native.sweep(source, axes, measures, (0, 0), 1, None))], stopped)


def map_on(client: Any, source: Source, x: str, y: str, rows: int) -> Any:
    """A map of so many cells as the native part gives it."""
    parts, stopped = _gather(client, _map_part, (source, x, y), lambda: rows, None)
    return _joined(parts or [_plain(_native.map(source, x, y, None, (0, 0), 1, None)[0])], stopped)
