"""Takes the screenshots of `docs/console.md`: each view of the race example, light, dark and on a phone.

Run it with the directory for the pictures, and with the names of views to take only theirs (`make
console-pictures`). It starts its own server and browser.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from PIL import Image

from tests.support.browser import browsing
from tests.support.console import Console
from tests.support.server_process import running_server

KEY: Final = "race:france"
WIDE: Final = (1280, 800)
PHONE: Final = (390, 780)
COLOURS: Final = 255
"""Enough for the flat colours of the console; the files are a third of the size then."""

VIEWS: Final[dict[str, str]] = {
    "overview": "Last entry",
    "stream": "entries shown",
    "entry": "alice",
    "groups": "Behind the newest entry",
    "pending": "To dead letters",
    "produce": "Add a field",
    "consume": "holds 2 entries",
    "manage": "next one first",
    "command": "(integer)",
    "server": "Commits behind",
    "access": "requires no token",
}
"""The views, with a text that shows that they are ready."""


RIDERS: Final = ("Castilla", "Norem", "Prickett", "Aguilar")
MINUTES: Final = 45
GPS_EVERY: Final = 3
"""One of so many laps has a position."""
PHASES: Final = (4, 7, 3, 2, 5, 9, 12, 6, 3, 1, 2, 4, 8, 5)
"""How long the riders of each phase wait before a lap, relative to each other."""


def prepare(console: Console) -> None:
    """Append the race example from the page, and what a day of races leaves around it."""
    console.open()
    console.press("Append the race example")
    console.until_text("12 entries shown")
    first_ms = int(console.command("XRANGE", KEY, "-", "+", "COUNT", "1")[0][0].split("-")[0])
    console.command("DEL", KEY)
    for number, race in enumerate((KEY, "race:italy", "race:spain", "race:usa", "weather")):
        laps = race_of(first_ms - number * 60_000, 60 * MINUTES // (number + 1))
        answer = console.http.post(f"/v1/streams/{race}/entries:batch", json={"entries": laps})
        assert answer.status_code == 201, answer.text
    for key, group in ((KEY, "judges"), (KEY, "medics"), (KEY, "press"), ("race:italy", "medics")):
        console.command("XGROUP", "CREATE", key, group, "0")
    for key, group in ((KEY, "medics"), (KEY, "press"), ("race:italy", "medics")):
        read(console, key, group, "erin", 60 * MINUTES // 2 - 90 * len(group))
    read(console, KEY, "judges", "alice", 60 * MINUTES - 250)
    for consumer, count in (("alice", "3"), ("bob", "2"), ("carla", "2")):
        console.command("XREADGROUP", "GROUP", "judges", consumer, "COUNT", count, "STREAMS", KEY, ">")
    settings = {"max_deliveries": 5, "dead_letter_stream": f"{KEY}:dead"}
    answer = console.http.post(f"/v1/streams/{KEY}/groups/judges:configure", json=settings)
    assert answer.status_code == 200, answer.text
    late = console.command("XRANGE", KEY, "-", "+", "COUNT", "1")[0][0]
    console.command("XCLAIM", KEY, "judges", "dora", "0", late, "FORCE", "RETRYCOUNT", "5")
    console.command("XNACK", KEY, "judges", "FATAL", "IDS", "1", late)
    slow, returned = pending_ids(console)[1::4]
    console.command(
        "XCLAIM", KEY, "judges", "alice", "0", slow, "IDLE", "252000", "RETRYCOUNT", "3", "JUSTID"
    )
    console.command("XNACK", KEY, "judges", "FAIL", "IDS", "1", returned)
    retention = {"max_age_ms": 7 * 86_400_000, "max_length": 1_000_000}
    rules = console.http.post(f"/v1/streams/{KEY}:configure", json={"retention": retention})
    assert rules.status_code == 204, rules.text
    later = {"fields": {"note": "start again"}, "delay_ms": 1_500_000}
    assert console.http.post(f"/v1/streams/{KEY}/entries", json=later).status_code in {201, 202}


def read(console: Console, key: str, group: str, consumer: str, count: int) -> None:
    """Deliver entries that need no acknowledgment."""
    what = ("COUNT", str(count), "NOACK", "STREAMS", key, ">")
    console.command("XREADGROUP", "GROUP", group, consumer, *what)


def pending_ids(console: Console) -> list[str]:
    """Return the ids that are pending for the judges."""
    rows = console.command("XPENDING", KEY, "judges", "-", "+", "100")
    return [row[0] for row in rows]


def race_of(end_ms: int, count: int) -> list[dict[str, Any]]:
    """Return the laps of a race that ends at a time. Its phases are faster and slower."""
    waits = [PHASES[number * len(PHASES) // count] + number % 3 for number in range(count)]
    at_ms = end_ms - MINUTES * 60_000
    laps: list[dict[str, Any]] = []
    for number, wait in enumerate(waits):
        at_ms += wait * MINUTES * 60_000 // sum(waits)
        speed = f"{27 + (number * 7919 % 60) / 10:.1f}"
        place, rider = str(number % 4 + 1), RIDERS[number % 4]
        fields = {"rider": rider, "speed": speed, "position": place, "location_id": str(number // 40 + 1)}
        if number % GPS_EVERY == GPS_EVERY - 1:
            fields["gps"] = (
                f'{{"lat":{43.29 + number % 97 / 5000:.4f},"lon":{5.37 + number % 89 / 5000:.4f}}}'
            )
        laps.append({"id": f"{at_ms}-{number}", "fields": fields})
    return laps


LAPS: Final = (3, 1, 4, 2, 6, 2)
"""How many entries each step of `advance` appends."""


def advance(console: Console) -> None:
    """Append more entries, and let groups read, so that lines over time move."""
    for lap, count in enumerate(LAPS):
        for number, key in enumerate((KEY, "race:italy", "race:usa", "weather")):
            laps = [lap_of(lap + number + each) for each in range(count + number if lap % 2 else count)]
            console.append(key, laps)
        read(console, KEY, "judges", "alice", 5 * count)
        read(console, KEY, "medics", "erin", 10 * count)
        read(console, KEY, "press", "erin", 40)
        requests = len(console.page.evaluate("performance.getEntriesByType('resource')"))
        console.page.until(f"performance.getEntriesByType('resource').length > {requests + 2}")


def lap_of(number: int) -> dict[str, str]:
    """Return a lap of the race that runs now."""
    speed = f"{27 + (number * 7919 % 60) / 10:.1f}"
    return {"rider": RIDERS[number % 4], "speed": speed, "position": str(number % 4 + 1), "location_id": "68"}


def prepare_view(console: Console, view: str) -> None:
    """Do in an open view what a reader of its picture shall see done."""
    if view in {"overview", "groups", "server"}:
        console.until_text(VIEWS[view])
        advance(console)
        console.page.until("document.querySelectorAll(':is(.spark, .plots svg)').length > 0")
    elif view == "stream":
        console.page.until("document.querySelector('.brushed')")
    elif view == "pending":
        console.page.until("document.querySelectorAll('tbody input').length > 3")
        boxes = "[...document.querySelectorAll('tbody input')]"
        console.page.evaluate(f"{boxes}.slice(0, 2).forEach((each) => each.click())")
    elif view == "produce":
        fill_in_entry(console)
    elif view == "consume":
        consume_in_two(console)
    elif view == "command":
        for line in (f"XLEN {KEY}", f"XPENDING {KEY} judges"):
            console.fill("Command", line)
            console.press("Run")
            console.until_text(line)


def fill_in_entry(console: Console) -> None:
    """Write the fields of an entry into the form, and open its options."""
    fields = {"rider": "Aguilar", "speed": "29.4", "position": "1"}
    for number, (name, value) in enumerate(fields.items(), start=1):
        console.fill(f"Name of field {number}", name)
        console.fill(f"Value of field {number}", value)
        if number < len(fields):
            console.press("Add a field")
    console.page.evaluate("document.querySelector('details').open = true; document.activeElement.blur()")


def consume_in_two(console: Console) -> None:
    """Start both consumers of the view, each with two entries."""
    for name in ("alice", "bob"):
        section = f"section[aria-label='Consumer {name}']"
        console.fill("Credit", "2", section)
        console.press("Start", section)
        console.until_text("holds 2 entries", section)


def show(console: Console, view: str) -> None:
    """Open a view, and bring it into the state that its picture shows."""
    parameters = (
        {"key": KEY, "id": pending_ids(console)[0]}
        if view not in {"overview", "command", "server", "access"}
        else {}
    )
    console.open("" if view == "overview" else view, **parameters)
    prepare_view(console, view)
    console.until_text(VIEWS[view])


def take(console: Console, target: Path) -> None:
    """Save what the browser shows."""
    target.write_bytes(console.page.screenshot())
    with Image.open(target) as picture:
        picture.convert("RGB").quantize(COLOURS).save(target, optimize=True)


def main(directory: Path, views: Sequence[str]) -> None:
    """Take the pictures of these views."""
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with (
            running_server(folder) as server,
            browsing("about:blank", folder / "profile") as page,
        ):
            console = Console(page, server.base_url)
            page.hide_scrollbars()
            page.resize(*WIDE)
            page.emulate_scheme("light")
            console.open()
            console.until_text("Append the race example")
            if "greeting" in views:
                take(console, directory / "greeting-light.png")
            prepare(console)
            for view in [view for view in VIEWS if view in views]:
                page.resize(*WIDE)
                page.emulate_scheme("light")
                show(console, view)
                take(console, directory / f"{view}-light.png")
                page.emulate_scheme("dark")
                take(console, directory / f"{view}-dark.png")
                page.emulate_scheme("light")
                page.resize(*PHONE, is_phone=True)
                take(console, directory / f"{view}-phone.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or ["greeting", *VIEWS])
