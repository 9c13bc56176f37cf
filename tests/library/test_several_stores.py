"""Several stores in one process, each with threads of its own, store what they were given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import tailrace

STORES = 3
ROUNDS = 40
ENTRIES = 1_000

PROGRAM = """
import sys
import threading
from pathlib import Path

import tailrace


def fields(number, count):
    return {"n": f"{number}-{count}", "filling": "".join(map(str, range(count % 60)))}


def fill(store, number):
    for count in range(int(sys.argv[3])):
        first = count * int(sys.argv[4])
        store.append_many("orders", [fields(number, first + each) for each in range(int(sys.argv[4]))])


stores = [tailrace.open(Path(sys.argv[1]) / str(number)) for number in range(int(sys.argv[2]))]
threads = [threading.Thread(target=fill, args=(store, number)) for number, store in enumerate(stores)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for store in stores:
    store.close()
"""


def test_stores_of_one_process_are_filled_at_the_same_time(tmp_path: Path) -> None:
    """In a process of its own, because a defect here would end it."""
    numbers = map(str, (STORES, ROUNDS, ENTRIES))
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path), *numbers], check=True)
    for number in range(STORES):
        with tailrace.open(tmp_path / str(number)) as store:
            found = [entry.fields for entry in store.range("orders", count=ROUNDS * ENTRIES)]
        wanted = [
            {"n": f"{number}-{count}", "filling": "".join(map(str, range(count % 60)))}
            for count in range(ROUNDS * ENTRIES)
        ]
        assert found == wanted
