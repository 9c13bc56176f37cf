"""The garbage collector of a server with many objects: full collections stay small, and cycles are found.

Each program runs in a process of its own, because the settings are those of the process.
"""

from __future__ import annotations

import json
import subprocess
import sys

from tailrace.app.process_tuning import IGNORED_FROM, MIDDLE_ROUNDS, OLD_ROUNDS, YOUNG_OBJECTS

OBJECTS = 2_000_000

GROWING = f"""
import gc, json
from tailrace.app.process_tuning import tune_garbage_collector

tune_garbage_collector()
examined = []
gc.callbacks.append(lambda phase, info: phase == "start" and info["generation"] == 2
                    and examined.append(len(gc.get_objects())))
kept = [[] for _ in range({OBJECTS})]
print(json.dumps([max(examined), len(examined)]))
"""

CYCLES = """
import gc, json, weakref
from tailrace.app.process_tuning import tune_garbage_collector

class Node:
    pass

tune_garbage_collector()
kept = [[] for _ in range(500_000)]
node = Node()
node.self = node
dead = weakref.ref(node)
del node
kept += [[] for _ in range(500_000)]
print(json.dumps([dead() is None]))
"""

START = """
import gc, json
from tailrace.app.process_tuning import tune_garbage_collector, uncollected

collections = []
gc.callbacks.append(lambda phase, info: phase == "start" and collections.append(info))
with uncollected():
    kept = [[] for _ in range(500_000)]
tune_garbage_collector()
ignored = gc.get_freeze_count()
print(json.dumps([len(collections), ignored >= len(kept), gc.isenabled()]))
"""


def printed_by(program: str) -> list[int]:
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    found: list[int] = json.loads(answer.stdout)
    return found


def test_a_full_collection_examines_only_what_is_new() -> None:
    most, count = printed_by(GROWING)
    new_between = YOUNG_OBJECTS * MIDDLE_ROUNDS * OLD_ROUNDS
    assert count >= OBJECTS // new_between // 2
    assert most <= 2 * (new_between + IGNORED_FROM)


def test_a_cycle_among_new_objects_is_found() -> None:
    assert printed_by(CYCLES) == [True]


def test_the_objects_of_the_start_are_never_examined() -> None:
    assert printed_by(START) == [0, True, True]
