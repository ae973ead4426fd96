"""How ratios are taken: medians of interleaved rounds, with the spread beside them."""

from __future__ import annotations

import random
import statistics
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROUNDS: Final = 9
CALLS: Final = 200


def private(folder: Path) -> Path:
    """Make a folder that nobody else can enter."""
    folder.mkdir(mode=0o700)
    return folder


def timed(call: Callable[[], object]) -> float:
    """Return the time of one call, in seconds."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def interleaved(measures: dict[str, Callable[[], float]], rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Take each measure once per round, so that a slow moment of the machine hits all of them."""
    found: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            found[name].append(measure())
    return found


def p50s(calls: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Return the median time of each call, one per round.

    The calls take turns one by one, in another order each time: what follows on a sync finds a processor that slept, so
    a call in a loop of its own, or behind the same one always, would be measured in other weather.
    """
    found: dict[str, list[float]] = {name: [] for name in calls}
    shuffled = random.Random(0)
    for _ in range(ROUNDS):
        times = [{name: timed(calls[name]) for name in shuffled.sample([*calls], k=len(calls))} for _ in range(CALLS)]
        for name in calls:
            found[name].append(statistics.median(taken[name] for taken in times))
    return found


def report(title: str, over: list[float], under: list[float], bar: str) -> None:
    """Print the median ratio of two interleaved measures, its spread, and the bar."""
    ratios = sorted(a / b for a, b in zip(over, under, strict=True))
    middle = statistics.median(ratios)
    absolute = f"{statistics.median(over) * 1e6:9.0f} µs / {statistics.median(under) * 1e6:7.0f} µs"
    print(f"{title:52} {middle:6.2f}x  [{ratios[0]:.2f} .. {ratios[-1]:.2f}]  {absolute}  bar {bar}", flush=True)
