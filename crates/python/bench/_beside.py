"""What all benchmarks of sparse datasets need."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

TURNS = 3


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else sum(part.stat().st_size for part in path.rglob("*") if part.is_file())


def in_turn(sides: dict[str, Callable[[Path], dict[str, float]]], turns: int = TURNS) -> dict[str, dict[str, float]]:
    """Each side works with a path of its own and gives numbers, in turn, some times; the least of each number."""
    least: dict[str, dict[str, float]] = {name: {} for name in sides}
    for _ in range(turns):
        with tempfile.TemporaryDirectory() as folder:
            for number, (name, side) in enumerate(sides.items()):
                for what, value in side(Path(folder, f"{number}.h5")).items():
                    least[name][what] = min(value, least[name].get(what, value))
    return least


def print_table(title: str, numbers: dict[str, dict[str, float]], theirs: str) -> None:
    """A line each side: its numbers, and how many times less they are than those of `theirs`."""
    columns = list(numbers[theirs])
    print(f"\n{title}\n\n| | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for name, own in numbers.items():
        cells = []
        for what in columns:
            if what not in own:
                cells.append("")
                continue
            ratio = numbers[theirs][what] / own[what] if own[what] else float("inf")
            shown = f"{own[what]:,.0f}" if what.endswith("bytes") else f"{own[what] * 1e3:,.1f} ms"
            cells.append(shown if name == theirs else f"{shown} ({ratio:.2f})")
        print(f"| {name} | " + " | ".join(cells) + " |")
