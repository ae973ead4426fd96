"""Reading goal documents: whole texts and single edits, in CPU time and as ratios to a loop that only counts.

Every row has metadata, with about 300 characters per row. A reading counts until there are the diagnostics of the
projection and the problems; the projection with all its items is timed by itself, and edits also in a document with
problems. Source: goal-documents.md section 6.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
import tracemalloc
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from stateward_engine.goals.document import GoalDocument, read_document

if TYPE_CHECKING:
    from collections.abc import Callable

COUNTED: Final = 100_000
SIZES: Final = {1_000: (9, 300), 10_000: (7, 300), 100_000: (3, 100)}
VERBS: Final = ("Repair", "Validate", "Compare", "Summarise", "Document", "Rebuild", "Observe", "核对", "Implement")
THINGS: Final = ("release notes draft", "nightly scorer run", "cache eviction policy", "the ledger importer", "📦 step")
TAILS: Final = ("for both shards", "without touching production", "after the owner approves", "直到回归通过")


def row(number: int, drawn: random.Random) -> str:
    """Return one row in the shape of the conformance data."""
    marker, status = drawn.choice([(" ", "open"), (" ", "open"), ("x", "done"), ("-", "deferred")])
    optional = {
        "action_kind": drawn.choice(["rebuild", "writeback", "analyze"]),
        "required_write_scopes": f"src/**,docs/{number % 50}/**",
        "required_capabilities": "shell,network",
        "required_decision_scopes": f"direction:action:target_{number % 60}",
        "claimed_by": drawn.choice(["agent.two:blue@lab", "codex-main", "claude-side"]),
        "note": f'备注 {number}: see <evidence> & "log" 100%',
        "evidence": f"run {number} passed on both shards",
    }
    shown = {key: value for key, value in optional.items() if drawn.random() < 0.4}
    fields = {
        "todo_id": f"todo_{number * 2654435761 % 2**48:012x}",
        "status": status,
        "task_class": drawn.choice(["advancement_task", "continuous_monitor", "blocker"]),
        **shown,
        "updated_at": f"2026-06-{1 + number % 28:02d}T{number % 24:02d}:{number % 60:02d}:00+08:00",
    }
    tokens = " ".join(f"{key}={quote(value, safe='_.:-~')}" for key, value in fields.items())
    priority = drawn.choice(["", "[P0] ", "[P1] ", "[P4] "])
    text = f"{priority}{drawn.choice(VERBS)} {drawn.choice(THINGS)} {drawn.choice(TAILS)} (#{number})"
    return f"- [{marker}] {text}\n  <!-- loopx:todo {tokens} -->\n"


def document(rows: int) -> str:
    """Return a document with that many rows, a tenth of them for the user."""
    drawn = random.Random(rows)
    written = [row(number, drawn) for number in range(rows)]
    users, agents = "".join(written[::10]), "".join(text for at, text in enumerate(written) if at % 10)
    return (
        "---\nstatus: active\n---\n\n# Goal\n\n## Next Action\n\n- go on\n\n"
        f"## User Todo / Owner Review Reading Queue\n\n{users}\n## Agent Todo\n\n{agents}\n## Notes\n\nprose\n"
    )


def cpu(call: Callable[[], object]) -> float:
    """Return the CPU time of a call, in milliseconds."""
    began = time.process_time()
    call()
    return (time.process_time() - began) * 1000


def count() -> None:
    """Count: what the times are compared with."""
    number = 0
    while number < COUNTED:
        number += 1


def all_of(read: GoalDocument) -> GoalDocument:
    """Return a document after everything that a server publishes unasked of it was found."""
    assert read.diagnostics is not None
    return read


def with_problems(text: str) -> str:
    """Return a document in which every hundredth row has a key that nobody knows, and no id."""
    rows = text.split("- [")
    return "- [".join(row.replace(" todo_id=", " todoid=") if at % 100 == 50 else row for at, row in enumerate(rows))


def whole(text: str, rounds: int) -> list[tuple[float, float]]:
    """Return the time of reading a text and that of counting, round by round."""
    return [(cpu(lambda: all_of(read_document(text))), cpu(count)) for _ in range(rounds)]


def whole_with_items(text: str) -> float:
    """Return the time of reading a text up to all items of its projection."""
    return cpu(lambda: read_document(text).projection)


def edits(text: str, times: int) -> list[float]:
    """Return the time of each of many edits of one character, inside the text of a row."""
    drawn = random.Random(times)
    read = all_of(read_document(text))
    found = []
    for _ in range(times):
        at = text.index("(#", drawn.randrange(len(text) // 8, len(text) * 7 // 8))
        began = time.process_time()
        read = all_of(read.edit(at, at, "x"))
        found.append((time.process_time() - began) * 1000)
        text = f"{text[:at]}x{text[at:]}"
    return sorted(found)


def memory(text: str) -> int:
    """Return how many bytes a document holds when all of it was found, its text not counted."""
    gc.collect()
    tracemalloc.start()
    read = all_of(read_document(text))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del read
    return held


def main() -> None:
    """Run all measures."""
    # As the daemon does with what it has loaded; otherwise the time depends on what other measures left behind.
    gc.freeze()
    print(f"-- goal documents, CPU time, and the ratio to counting to {COUNTED}")
    for rows, (rounds, times) in SIZES.items():
        text = document(rows)
        found = whole(text, rounds)
        ratios = sorted(read / counted for read, counted in found)
        least, middle = min(read for read, _ in found), statistics.median(read for read, _ in found)
        bar = "  bar 100 ms" if rows == 10_000 else ""
        print(
            f"{rows:6} todos, {len(text) // rows} characters each: whole {middle:8.1f} ms (least {least:.1f})  "
            f"{statistics.median(ratios):7.1f}x  [{ratios[0]:.1f} .. {ratios[-1]:.1f}]{bar}",
            flush=True,
        )
        one = edits(text, times)
        p50, p99 = one[len(one) // 2], one[len(one) * 99 // 100]
        counted = statistics.median(taken for _, taken in found)
        bar = {10_000: "  bar 5 and 15 ms", 100_000: "  bar 10 and 30 ms"}.get(rows, "")
        print(
            f"{rows:6} todos, one character: p50 {p50:.2f} ms ({p50 / counted:.2f}x), p99 {p99:.2f} ms{bar}", flush=True
        )
        bad = edits(with_problems(text), times // 3)
        print(
            f"{rows:6} todos, one character, a problem in every hundredth row: "
            f"p50 {bad[len(bad) // 2]:.2f} ms, p99 {bad[len(bad) * 99 // 100]:.2f} ms",
            flush=True,
        )
        items = min(whole_with_items(text) for _ in range(3))
        print(f"{rows:6} todos, whole with the items of the projection: {items:.1f} ms", flush=True)
        if rows < 100_000:
            print(f"{rows:6} todos, memory: {memory(text) // rows} bytes per todo", flush=True)


if __name__ == "__main__":
    main()
