"""Appending, consuming, commands, and what concerns a whole stream, in the console."""

from __future__ import annotations

from tests.support.console import Console


def test_an_entry_is_appended_by_its_fields(console: Console) -> None:
    console.open("produce", key="work:fields")
    console.fill("Name of field 1", "rider")
    console.fill("Value of field 1", "Castilla")
    console.press("Add a field")
    console.fill("Name of field 2", "rider")
    console.fill("Value of field 2", "again")
    console.press("Append")
    console.until_text("Appended as")
    [entry] = console.command("XRANGE", "work:fields", "-", "+")
    assert entry[1] == ["rider", "Castilla", "rider", "again"]


def test_json_with_a_number_is_refused_before_it_is_sent(console: Console) -> None:
    console.open("produce", key="work:json")
    console.press("JSON")
    console.fill("Fields as JSON", '{"speed": 30.2}')
    console.press("Append")
    console.until_text("The value of speed is 30.2; it must be a string.")
    assert console.command("EXISTS", "work:json") == 0


def test_many_entries_are_pasted_as_csv_or_ndjson(console: Console) -> None:
    console.open("produce", key="work:many")
    console.press("Many at once")
    console.fill("Entries as NDJSON or CSV", 'rider,note\nCastilla,"one, ""two"""\nNorem,\n')
    console.until_text("2 entries read as CSV.")
    console.press("Append all")
    console.until_text("2 entries appended")
    console.fill("Entries as NDJSON or CSV", '{"rider": "Prickett"}\n{"rider": 7}')
    console.until_text("Line 2: the value of rider is not a string")
    entries = [fields for _, fields in console.command("XRANGE", "work:many", "-", "+")]
    assert entries == [["rider", "Castilla", "note", 'one, "two"'], ["rider", "Norem", "note", ""]]


def test_an_entry_is_appended_again_after_a_change(console: Console) -> None:
    [entry_id] = console.append("work:again", [{"rider": "Castilla"}])
    console.open("entry", key="work:again", id=entry_id)
    console.press("Append again")
    console.until_text(f"Copied from {entry_id}")
    console.fill("Value of field 1", "Norem")
    console.press("Append")
    console.until_text("Appended as")
    entries = [fields for _, fields in console.command("XRANGE", "work:again", "-", "+")]
    assert entries == [["rider", "Castilla"], ["rider", "Norem"]]


def test_two_consumers_share_entries_and_one_takes_over_from_the_other(console: Console) -> None:
    key = "work:consume"
    ids = console.append(key, [{"n": str(number)} for number in range(3)])
    console.command("XGROUP", "CREATE", key, "judges", "0")
    console.open("consume", key=key)
    alice, bob = ("section[aria-label='Consumer alice']", "section[aria-label='Consumer bob']")
    console.press("Start", alice)
    console.until_text("holds 3 entries", alice)
    console.press(f"Acknowledge {ids[0]}", alice)
    console.until_text("1 acknowledged", alice)
    assert console.command("XPENDING", key, "judges")[0] == 2
    console.press("Start", bob)
    console.until_text("Running", bob)
    console.press("Stop", alice)
    console.until_text("holds 2 entries", bob)
    assert console.command("XPENDING", key, "judges")[3] == [["bob", "2"]]
    assert "active in the last minute" not in console.text()


def test_a_consumer_in_the_page_leaves_entries_to_a_slow_worker_and_returns_its_own_unseen(
    console: Console,
) -> None:
    key = "work:slow"
    [slow, new] = console.append(key, [{"n": "1"}, {"n": "2"}])
    console.command("XGROUP", "CREATE", key, "judges", "0")
    limit = {"max_deliveries": 1, "dead_letter_stream": f"{key}:dead"}
    assert console.http.post(f"/v1/streams/{key}/groups/judges:configure", json=limit).is_success
    console.command("XREADGROUP", "GROUP", "judges", "worker", "COUNT", "1", "STREAMS", key, ">")
    console.command("XCLAIM", key, "judges", "worker", "0", slow, "IDLE", "3600000", "JUSTID")
    console.open("consume", key=key)
    console.until_text("worker was active in the last minute")
    console.press("Start", "section[aria-label='Consumer alice']")
    console.until_text(new)
    assert console.command("XPENDING", key, "judges")[3] == [["alice", "1"], ["worker", "1"]]
    console.press("Entries", "nav.tabs")
    returned = {"group": "judges", "consumer": "other", "streams": [{"key": key}], "wait_ms": 20_000}
    answer = console.http.post("/v1/read-group", json={**returned, "claim_min_idle_ms": 10_000_000})
    [entry] = answer.json()["streams"][0]["entries"]
    assert (entry["id"], entry["deliveries"]) == (new, 0)
    assert console.command("EXISTS", f"{key}:dead") == 0


def test_a_command_is_completed_run_and_found_in_the_history(console: Console) -> None:
    console.append("work:command", [{"rider": "Castilla"}])
    console.open("command")
    console.fill("Command", "xle")
    console.page.press("Tab")
    assert console.page.evaluate("document.activeElement.value") == "XLEN "
    console.fill("Command", "XLEN work:command")
    console.page.press("Enter")
    console.until_text("(integer) 1")
    console.page.until("document.activeElement.matches('form input')")
    console.page.press("ArrowUp")
    console.page.until("document.activeElement.value === 'XLEN work:command'")
    console.fill("Command", "XLEN")
    console.press("Run")
    console.until_text("wrong number of arguments")


def test_a_command_that_deletes_streams_asks_first(console: Console) -> None:
    console.append("work:asked", [{"rider": "Castilla"}])
    console.open("command")
    console.fill("Command", "DEL work:asked")
    console.page.press("Enter")
    console.until_text("deletes streams with their entries and groups", "dialog")
    assert console.command("EXISTS", "work:asked") == 1
    console.fill("Type DEL to confirm", "DEL", "dialog")
    console.press("Run it", "dialog")
    console.until_text("(integer) 1")
    assert console.command("EXISTS", "work:asked") == 0


def test_a_stream_is_trimmed_renamed_and_deleted_after_its_key_is_typed(console: Console) -> None:
    key, renamed = "work:manage", "work:renamed"
    console.append(key, [{"n": str(number)} for number in range(10)])
    console.open("manage", key=key)
    console.until_text("10 entries in the stream")
    console.fill("How many", "4")
    console.until_text("Removes 6 entries of 10.")
    console.press("Trim")
    console.fill(f"Type {key} to confirm", key, "dialog")
    console.press("Trim the stream", "dialog")
    console.until_text("6 entries removed.")
    console.fill("New key", renamed)
    console.press("Rename")
    console.fill(f"Type {key} to confirm", key, "dialog")
    console.press("Rename the stream", "dialog")
    console.until_text(renamed, "h1")
    console.press("Delete stream")
    console.fill(f"Type {renamed} to confirm", renamed, "dialog")
    console.press("Delete the stream", "dialog")
    console.until_text("New stream")
    assert console.command("EXISTS", key, renamed) == 0


def test_the_retention_of_a_stream_is_set_shown_and_removed(console: Console) -> None:
    key = "work:retention"
    console.append(key, [{"n": str(number)} for number in range(10)])
    console.open("manage", key=key)
    console.until_text("The stream keeps all its entries.")
    console.press("Change rules")
    console.fill("Age to keep", "0.5", "dialog")
    console.fill("Entries to keep", "4", "dialog")
    console.press("Apply", "dialog")
    console.until_text("The new rules apply within a second.")
    console.until_text("entries of the last 12 h; the newest 4 entries")
    console.until_text("Removed so far6 entries")
    assert console.http.get(f"/v1/streams/{key}").json()["length"] == 4
    console.press("Keep all entries")
    console.until_text("The stream keeps all its entries.")
    assert console.page.complaints == []


def test_an_age_to_keep_has_the_unit_in_which_it_is_a_whole_number(console: Console) -> None:
    key = "work:age"
    rules = {"retention": {"max_age_ms": 5_400_000}}
    assert console.http.put(f"/v1/streams/{key}", json=rules).status_code == 201
    console.open("manage", key=key)
    console.press("Change rules")
    console.page.until("document.querySelector('dialog input')?.value === '90 min'")
    console.fill("Age to keep", "2 weeks", "dialog")
    console.until_text("Enter numbers above 0", "dialog")
    console.fill("Age to keep", "36 h", "dialog")
    console.press("Apply", "dialog")
    console.until_text("The new rules apply within a second.")
    assert console.http.get(f"/v1/streams/{key}").json()["retention"]["max_age_ms"] == 36 * 3_600_000


def test_refused_rules_of_retention_stay_in_the_form(console: Console) -> None:
    key = "work:refused"
    console.append(key, [{"n": "1"}])
    console.open("manage", key=key)
    console.press("Change rules")
    console.fill("Entries to keep", "1" + "0" * 30, "dialog")
    console.press("Apply", "dialog")
    console.page.until("document.querySelector('dialog .problem')")
    console.fill("Entries to keep", "5", "dialog")
    console.press("Apply", "dialog")
    console.until_text("The new rules apply within a second.")
    console.until_text("the newest 5 entries")


def test_a_range_is_exported_as_csv_that_no_spreadsheet_runs(console: Console) -> None:
    [first, second] = console.append(
        "work:export", [{"rider": "Castilla", "note": "=1+1"}, {"rider": 'No"rem', "speed": "-2"}]
    )
    console.open("manage", key="work:export")
    console.page.evaluate(
        "window.saved = undefined; URL.createObjectURL = (blob) => { blob.text().then((text) => "
        "{ window.saved = text; }); return '#'; }"
    )
    console.select("Format", "csv")
    console.press("Export")
    console.until_text("2 entries exported")
    rows = console.page.until("window.saved").split("\r\n")
    assert rows == ["id,rider,note,speed", f"{first},Castilla,'=1+1", f'{second},"No""rem",,-2', ""]


def test_entries_are_found_by_a_field_and_a_scan_says_how_much_it_read(console: Console) -> None:
    key = "work:scan"
    console.append(key, [{"rider": "Castilla" if number % 100 else "Norem"} for number in range(2500)])
    console.open("stream", key=key, field="rider", value="Norem")
    console.until_text("in 2\u202f500 entries read, newest first; the whole range was searched")
    assert console.text("main .bar strong") == "25 matches"


def test_pages_of_older_entries_follow_each_other(console: Console) -> None:
    key = "work:pages"
    ids = console.append(key, [{"n": str(number)} for number in range(120)])
    console.open("stream", key=key)
    console.until_text("50 entries shown")
    console.press("Older entries")
    console.until_text("100 entries shown")
    console.press("Older entries")
    console.until_text("This is the oldest entry.")
    shown = "[...document.querySelectorAll('tbody th')].map((cell) => cell.textContent)"
    assert console.page.evaluate(shown) == ids[::-1]


def test_the_reader_jumps_to_a_time_and_to_an_id(console: Console) -> None:
    key = "work:jump"
    for second in range(5):
        console.command("XADD", key, f"{1692632086000 + 1000 * second}-0", "n", str(second))
    console.open("stream", key=key)
    console.fill("Jump to a time (UTC) or an id", "2023-08-21 15:34:48")
    console.press("Jump")
    console.until_text("3 entries shown")
    console.fill("Jump to a time (UTC) or an id", "yesterday")
    console.press("Jump")
    console.until_text("'yesterday' is neither a time")
