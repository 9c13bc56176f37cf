"""Settings of groups in the console, and the dead letters that the server itself moves and sends back."""

from __future__ import annotations

import pytest

from tests.support.console import Console

GROUP = "judges"


@pytest.fixture
def key(request: pytest.FixtureRequest, console: Console) -> str:
    """The key of a stream with three entries that are pending for alice."""
    name = f"policies:{request.node.name}"
    console.append(name, [{"rider": rider} for rider in ("Castilla", "Norem", "Prickett")])
    console.command("XGROUP", "CREATE", name, GROUP, "0")
    console.command("XREADGROUP", "GROUP", GROUP, "alice", "STREAMS", name, ">")
    return name


def configure(console: Console, key: str) -> None:
    body = {"max_deliveries": 3, "dead_letter_stream": f"{key}:dead"}
    answer = console.http.post(f"/v1/streams/{key}/groups/{GROUP}:configure", json=body)
    assert answer.status_code == 200, answer.text


def group(console: Console, key: str) -> dict[str, object]:
    found: dict[str, object] = console.http.get(f"/v1/streams/{key}/groups/{GROUP}").json()
    return found


def test_the_settings_of_a_group_are_shown_changed_and_removed(console: Console, key: str) -> None:
    console.open("groups", key=key)
    console.until_text("None: the group delivers an entry until a consumer acknowledges it.")
    console.press("Change settings")
    console.fill("max_deliveries", "5", "dialog")
    console.fill("dead_letter_stream", f"{key}:dead", "dialog")
    console.press("Apply", "dialog")
    console.until_text("apply from the next delivery on")
    console.until_text("Max deliveries5", ".settings")
    console.until_text(f"Dead letters go to{key}:dead", ".settings")
    assert (group(console, key)["max_deliveries"], group(console, key)["dead_letter_stream"]) == (
        5,
        f"{key}:dead",
    )
    console.press("Change settings")
    for setting in ("max_deliveries", "dead_letter_stream"):
        console.page.until("document.querySelectorAll('dialog input').length > 1")
        console.fill(setting, " ", "dialog")
        console.page.press("Backspace")
    console.press("Apply", "dialog")
    console.until_text("None: the group delivers an entry until a consumer acknowledges it.")
    assert "max_deliveries" not in group(console, key)


def test_a_setting_that_is_no_number_is_refused_before_it_is_sent(console: Console, key: str) -> None:
    console.open("groups", key=key)
    console.press("Change settings")
    console.fill("max_deliveries", "many", "dialog")
    console.until_text("max_deliveries must be a whole number.", "dialog")
    off = "[...document.querySelectorAll('dialog button')].at(-1).ariaDisabled"
    assert console.page.evaluate(off) == "true"


def test_a_number_of_milliseconds_is_shown_as_a_duration(console: Console, key: str) -> None:
    console.open("groups", key=key)
    console.press("Change settings")
    console.fill("consumer_expiry_ms", "3600000", "dialog")
    console.until_text("This is 60 min.", "dialog")
    console.fill("consumer_expiry_ms", "90000000", "dialog")
    console.until_text("This is 25 h.", "dialog")


def test_refused_settings_stay_in_the_form_with_the_reason(console: Console, key: str) -> None:
    console.open("groups", key=key)
    console.press("Change settings")
    console.fill("filter", "fields.rider ==", "dialog")
    console.press("Apply", "dialog")
    console.page.until("document.querySelector('dialog .problem')")
    values = "[...document.querySelectorAll('dialog input')].map((each) => each.value)"
    assert "fields.rider ==" in console.page.evaluate(values)
    console.fill("filter", 'fields.rider == "Norem"', "dialog")
    console.press("Apply", "dialog")
    console.until_text("apply from the next delivery on")
    console.until_text('Filterfields.rider == "Norem"', ".settings")


def test_a_reason_of_a_refusal_goes_with_the_form(console: Console, key: str) -> None:
    console.open("groups", key=key)
    console.press("Change settings")
    console.fill("filter", "fields.rider ==", "dialog")
    console.press("Apply", "dialog")
    console.page.until("document.querySelector('dialog .problem')")
    console.press("Cancel", "dialog")
    console.page.until("!document.querySelector('dialog')")
    assert not console.page.evaluate("document.querySelector('.problem') !== null")


def test_the_form_has_each_setting_of_the_document(console: Console, key: str) -> None:
    document = console.http.get("/openapi.json").json()
    known = set(document["components"]["schemas"]["GroupSettingsBody"]["properties"]) - {"encoding"}
    console.open("groups", key=key)
    console.press("Change settings")
    console.page.until("document.querySelector('dialog input')")
    labels = "[...document.querySelectorAll('dialog .field > span')].map((each) => each.textContent)"
    assert {label.split(".")[0] for label in console.page.evaluate(labels)} == known
    assert console.violations() == []


def test_the_server_moves_entries_to_the_dead_letters_of_the_group_and_back(
    console: Console, key: str
) -> None:
    configure(console, key)
    console.open("pending", key=key, group=GROUP)
    console.until_text("3 pending entries shown")
    console.page.evaluate("document.querySelector('thead input').click()")
    console.until_text("3 entries selected")
    console.press("To dead letters", ".actions")
    console.until_text("the dead-letter stream of judges", "dialog")
    console.press("Move", "dialog")
    console.until_text(f"3 entries moved to {key}:dead and acknowledged.")
    assert console.command("XPENDING", key, GROUP)[0] == 0
    letters = console.command("XRANGE", f"{key}:dead", "-", "+")
    assert [fields[:2] for _, fields in letters] == [
        ["rider", "Castilla"],
        ["rider", "Norem"],
        ["rider", "Prickett"],
    ]
    assert letters[0][1][-2:] == ["_reason", "fatal"]
    console.open("entry", key=f"{key}:dead", id=letters[0][0])
    console.until_text("A dead letter of")
    source = console.command("XRANGE", key, "-", "+", "COUNT", "1")[0][0]
    console.press(f"{key}, {source}")
    console.until_text(source, "h2")
    console.open("pending", key=key, group=GROUP)
    console.until_text(f"3 entries in {key}:dead")
    console.press("Redrive")
    console.until_text("3 dead letters appended to this stream again")
    console.until_text("There are no dead letters.")
    assert console.command("XLEN", f"{key}:dead") == 0
    assert console.command("XLEN", key) == 6


def test_a_redrive_names_what_stays_because_it_is_of_another_group(console: Console, key: str) -> None:
    configure(console, key)
    console.append(f"{key}:dead", [{"rider": "Aguilar"}])
    console.open("pending", key=key, group=GROUP)
    console.press("Redrive")
    console.until_text("0 dead letters appended to this stream again")
    console.until_text("1 stay: they are not of this group.")
    assert console.command("XLEN", f"{key}:dead") == 1


def test_a_lag_above_its_maximum_is_named(console: Console, key: str) -> None:
    console.append(key, [{"rider": "Aguilar"}])
    path = f"/v1/streams/{key}/groups/{GROUP}:configure"
    assert console.http.post(path, json={"max_lag_ms": 3_600_000}).status_code == 200
    console.open("groups", key=key)
    console.until_text("Max lag60 min", ".settings")
    assert "above the max lag" not in console.text(".settings")
    assert console.http.post(path, json={"max_lag_ms": 1}).status_code == 200
    console.until_text("old, above the max lag", ".settings")


def test_the_age_of_the_oldest_unread_entry_is_no_setting(console: Console, key: str) -> None:
    console.append(key, [{"rider": "Aguilar"}])
    console.open("groups", key=key)
    console.until_text("Oldest unread entry", ".settings")
    console.until_text("None: the group delivers an entry until a consumer acknowledges it.")
