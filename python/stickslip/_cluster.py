"""Sweeps on a Dask cluster: chunks of rows, one for each thread of a worker, which runs its rows side by side in lanes."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._progress import Progress
from .errors import Error
from .studies import _column

if TYPE_CHECKING:
    from ._types import Source

_FEWEST_CHUNKS = 4


def _sweep_part(source: Source, axes: list[str], measures: list[str], rows: tuple[int, int]) -> Any:
    """Runs on a worker."""
    return _plain(_native.sweep(source, axes, measures, rows, 1, None))


def _map_part(source: Source, x: str, y: str, rows: tuple[int, int]) -> Any:
    """Runs on a worker."""
    return _plain(_native.map(source, x, y, None, rows, 1, None)[0])


def _plain(table: Any) -> Any:
    header, lines, columns, doubts, raised = table
    if raised is not None:
        raise raised
    return header, lines, columns, doubts


def _chunks(rows: int, threads: int, chunk: int | None) -> list[tuple[int, int]]:
    """Ranges of rows: several for every thread, as some rows take longer, and not too many for the scheduler."""
    size = chunk or max(1, min(4096, -(-rows // (_FEWEST_CHUNKS * max(threads, 1)))))
    return [(start, min(start + size, rows)) for start in range(0, rows, size)]


def _gather(client: Any, part: Callable[..., Any], arguments: tuple[Any, ...], rows: int, chunk: int | None) -> tuple[list[Any], bool]:
    """The parts in order, and whether Ctrl-C ended it: then those before the first that is not done. The first that fails, fails all, once."""
    if not hasattr(client, "submit") or not hasattr(client, "nthreads") or getattr(client, "asynchronous", False):
        raise Error("`client` is no Dask client that can be waited for\nhelp: client = distributed.Client(...)")
    from distributed import as_completed

    arriving: Any = as_completed
    ranges = _chunks(rows, sum(client.nthreads().values()), chunk)
    # Keys of this call alone: another call of the same sweep is other work.
    call = os.urandom(8).hex()
    futures: list[Any] = []
    numbers: dict[Any, int] = {}
    done: dict[int, Any] = {}
    with Progress("of the rows") as tell:
        try:
            for number, span in enumerate(ranges):
                futures.append(client.submit(part, *arguments, span, pure=False, retries=0, key=f"stickslip-{call}-{number}"))
                numbers[futures[-1].key] = number
            for future, outcome in arriving(futures, with_results=True):
                done[numbers[future.key]] = outcome
                if tell is not None:
                    tell(len(done) / len(futures))
        except KeyboardInterrupt:
            # Only what is here already: asking a worker now may take long, or find it gone.
            client.cancel(futures)
            return [done[number] for number in takewhile(done.__contains__, range(len(futures)))], True
        except BaseException:
            client.cancel(futures)
            raise
    return [done[number] for number in range(len(futures))], False


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
    # What is wrong with the scenario is found here, once, before anything is sent.
    rows = _native.sweep_size(source, axes, measures)
    parts, stopped = _gather(client, _sweep_part, (source, axes, measures), rows, chunk)
    return _joined(parts or [_plain(_native.sweep(source, axes, measures, (0, 0), 1, None))], stopped)


def map_on(client: Any, source: Source, x: str, y: str, rows: int) -> Any:
    """A map of so many cells as the native part gives it."""
    parts, stopped = _gather(client, _map_part, (source, x, y), rows, None)
    return _joined(parts or [_plain(_native.map(source, x, y, None, (0, 0), 1, None)[0])], stopped)
