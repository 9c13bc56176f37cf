"""The stories of the guide over REST: the same race and the same replies, as resources."""

from __future__ import annotations

from typing import Any

import pytest

from tailrace.core.parser import parse_request
from tests.seeds.guide import BOB_READS_AT_MS, INSPECTED_AT_MS, ROYCE_CLAIMED_AT_MS
from tests.support.api_client import ApiClient, assert_problem

FRANCE = "/v1/streams/race:france"
ITALY = "/v1/streams/race:italy"
RIDERS = f"{ITALY}/groups/italy_riders"
GROUP_READ = {"group": "italy_riders", "streams": [{"key": "race:italy"}]}

PASSAGES = (
    (1692632086370, "Castilla", "30.2", "1", "1"),
    (1692632094485, "Norem", "28.8", "3", "1"),
    (1692632102976, "Prickett", "29.7", "2", "1"),
    (1692632147973, "Castilla", "29.9", "1", "2"),
)
ENTRIES = [
    {
        "id": f"{ms}-0",
        "fields": {"rider": name, "speed": speed, "position": position, "location_id": location},
    }
    for ms, name, speed, position, location in PASSAGES
]
ITALIANS = (
    (1692632639151, "Castilla"),
    (1692632647899, "Royce"),
    (1692632662819, "Sam-Bodden"),
    (1692632670501, "Prickett"),
    (1692632678249, "Norem"),
)
CASTILLA, ROYCE, SAM_BODDEN, _, NOREM = ITALIAN_ENTRIES = [
    {"id": f"{ms}-0", "fields": {"rider": name}} for ms, name in ITALIANS
]


@pytest.fixture
def api() -> ApiClient:
    return ApiClient()


def append(api: ApiClient, stream: str, at_ms: int, **body: Any) -> str:
    """Append one entry at a time of the story; its id."""
    api.store.now_ms = at_ms
    response = api.post(f"{stream}/entries", body)
    assert response.status_code == 201
    value: str = response.json()["id"]
    return value


@pytest.fixture
def france(api: ApiClient) -> ApiClient:
    for passage, expected in zip(PASSAGES, ENTRIES, strict=True):
        assert append(api, FRANCE, passage[0], fields=expected["fields"]) == expected["id"]
    return api


@pytest.fixture
def italy(api: ApiClient) -> ApiClient:
    assert api.put(RIDERS, {"after": "$", "create_stream": True}).status_code == 201
    for ms, name in ITALIANS:
        assert append(api, ITALY, ms, fields={"rider": name}) == f"{ms}-0"
    return api


def read(api: ApiClient, consumer: str, **more: Any) -> Any:
    """The entries of race:italy that a group read gives, without what a delivery adds to them."""
    body = {**GROUP_READ, "consumer": consumer, **more}
    (stream,) = api.post("/v1/read-group", body).json()["streams"]
    return [{"id": entry["id"], "fields": entry["fields"]} for entry in stream["entries"]]


def test_riders_are_read_by_range_by_time_and_page_by_page(france: ApiClient) -> None:
    def entries(query: str) -> Any:
        return france.get(f"{FRANCE}/entries{query}").json()

    assert entries(f"?start={ENTRIES[0]['id']}&count=2")["entries"] == ENTRIES[:2]
    assert france.get(f"{FRANCE}/length").json() == {"length": 4}
    assert entries("?start=-&end=%2B")["entries"] == ENTRIES
    assert entries("?start=1692632086369&end=1692632086371")["entries"] == ENTRIES[:1]
    first = entries("?count=2")
    assert (first["entries"], first["next"]) == (ENTRIES[:2], ENTRIES[1]["id"])
    second = entries(f"?start=({first['next']}&count=2")
    assert (second["entries"], second["next"]) == (ENTRIES[2:], None)
    assert entries(f"?start=({ENTRIES[3]['id']}&count=2") == {"entries": [], "next": None}
    assert entries("?order=desc&count=1")["entries"] == ENTRIES[3:]


def test_new_riders_are_listened_for_on_one_stream_or_several(france: ApiClient) -> None:
    silence = france.get(f"{FRANCE}/entries?after=$&wait_ms=300&count=100").json()
    assert silence == {"entries": [], "next": ENTRIES[3]["id"]}
    append(france, ITALY, 1692632647899, fields={"rider": "Royce"})
    streams = [{"key": "race:france", "after": "0"}, {"key": "race:italy", "after": "0"}]
    reply = france.post("/v1/read", {"streams": streams, "count": 2}).json()["streams"]
    assert [stream["entries"] for stream in reply] == [ENTRIES[:2], [ROYCE]]


def test_a_rider_that_arrives_while_one_waits_is_given_at_once(france: ApiClient) -> None:
    meanwhile = parse_request(b"XADD race:france 1692632200000-0 rider Norem".split()).command
    assert meanwhile is not None
    france.store.while_waiting = lambda: france.store.engine.execute(meanwhile, france.store.now_ms)
    reply = france.get(f"{FRANCE}/entries?after=$&wait_ms=300").json()
    assert reply["entries"] == [{"id": "1692632200000-0", "fields": {"rider": "Norem"}}]


def test_ids_of_ones_own_must_rise(api: ApiClient) -> None:
    usa = "/v1/streams/race:usa"
    assert [append(api, usa, 0, id=value, fields={"racer": "Castilla"}) for value in ("0-1", "0-2")] == [
        "0-1",
        "0-2",
    ]
    refused = api.post(f"{usa}/entries", {"id": "0-1", "fields": {"racer": "Prickett"}})
    assert assert_problem(refused, 409, "ID_NOT_GREATER")["last_id"] == "0-2"
    assert append(api, usa, 0, id="0-*", fields={"racer": "Prickett"}) == "0-3"


def test_a_group_hands_out_each_rider_once_and_remembers_until_acknowledged(italy: ApiClient) -> None:
    assert read(italy, "Alice", count=1) == [CASTILLA]
    history = {"streams": [{"key": "race:italy", "id": "0"}]}
    assert read(italy, "Alice", **history) == [CASTILLA]
    assert italy.post(f"{RIDERS}:ack", {"ids": [CASTILLA["id"]]}).json() == {"acknowledged": 1}
    assert read(italy, "Alice", **history) == []
    assert read(italy, "Bob", count=2) == [ROYCE, SAM_BODDEN]


@pytest.fixture
def bob_stopped(italy: ApiClient) -> ApiClient:
    read(italy, "Alice", count=1)
    italy.post(f"{RIDERS}:ack", {"ids": [CASTILLA["id"]]})
    italy.store.now_ms = BOB_READS_AT_MS
    read(italy, "Bob", count=2)
    return italy


def test_what_a_stopped_consumer_left_is_seen_and_claimed(bob_stopped: ApiClient) -> None:
    api = bob_stopped
    assert api.get(f"{RIDERS}/pending:summary").json() == {
        "count": 2,
        "min_id": ROYCE["id"],
        "max_id": SAM_BODDEN["id"],
        "consumers": [{"name": "Bob", "pending": 2}],
    }
    api.store.now_ms = BOB_READS_AT_MS + 74_642
    pending = api.get(f"{RIDERS}/pending").json()["pending"]
    assert [(row["id"], row["consumer"], row["idle_ms"], row["deliveries"]) for row in pending] == [
        (ROYCE["id"], "Bob", 74642, 1),
        (SAM_BODDEN["id"], "Bob", 74642, 1),
    ]
    assert api.get(f"{ITALY}/entries/{ROYCE['id']}").json() == ROYCE
    claim = {"min_idle_ms": 60000, "ids": [ROYCE["id"]]}
    assert api.post(f"{RIDERS}:claim", {"consumer": "Alice", **claim}).json() == {"entries": [ROYCE]}
    assert api.post(f"{RIDERS}:claim", {"consumer": "Lora", **claim}).json() == {"entries": []}


def test_idle_riders_are_found_by_scanning_and_the_group_is_inspected(bob_stopped: ApiClient) -> None:
    api = bob_stopped
    api.store.now_ms = ROYCE_CLAIMED_AT_MS
    api.post(f"{RIDERS}:claim", {"consumer": "Alice", "min_idle_ms": 60000, "ids": [ROYCE["id"]]})
    scan = {"min_idle_ms": 60000, "count": 1}
    api.store.now_ms = INSPECTED_AT_MS - 177_546
    reply = api.post(f"{RIDERS}:autoclaim", {"consumer": "Alice", **scan}).json()
    assert reply == {"cursor": "0-0", "entries": [SAM_BODDEN], "deleted_ids": []}
    api.store.now_ms = INSPECTED_AT_MS - 72_241
    reply = api.post(f"{RIDERS}:autoclaim", {"consumer": "Lora", **scan}).json()
    assert reply == {"cursor": SAM_BODDEN["id"], "entries": [ROYCE], "deleted_ids": []}
    api.store.now_ms = INSPECTED_AT_MS
    _inspect(api)


def _inspect(api: ApiClient) -> None:
    info = api.get(ITALY).json()
    assert (info["length"], info["last_id"], info["groups"]) == (5, NOREM["id"], 1)
    assert (info["first_entry"], info["last_entry"]) == (CASTILLA, NOREM)
    group = api.get(RIDERS).json()
    assert (group["consumers"], group["pending"], group["last_delivered_id"]) == (3, 2, SAM_BODDEN["id"])
    assert (group["entries_read"], group["lag"]) == (3, 2)
    consumers = api.get(f"{RIDERS}/consumers").json()["consumers"]
    assert [(row["name"], row["pending"], row["idle_ms"]) for row in consumers] == [
        ("Alice", 1, 177546),
        ("Bob", 0, 424686),
        ("Lora", 1, 72241),
    ]


def test_a_capped_stream_keeps_the_last_riders_and_stands_when_all_are_gone(italy: ApiClient) -> None:
    capped = {"trim": {"max_length": 2}}
    for ms, name in ((1692633189161, "Jones"), (1692633198206, "Wood"), (1692633208557, "Henshaw")):
        append(italy, ITALY, ms, fields={"rider": name}, **capped)
    assert italy.get(f"{ITALY}/length").json() == {"length": 2}
    assert italy.post(f"{ITALY}/entries:trim", {"max_length": 10}).json() == {"trimmed": 0}
    assert italy.post(f"{ITALY}/entries:trim", {"max_length": 10, "approximate": True}).json() == {
        "trimmed": 0
    }
    deleted = italy.post(f"{ITALY}/entries:delete", {"ids": ["1692633208557-0"]}).json()
    assert deleted["deleted"] == 1
    left = italy.get(f"{ITALY}/entries").json()["entries"]
    assert left == [{"id": "1692633198206-0", "fields": {"rider": "Wood"}}]
    assert italy.post(f"{ITALY}/entries:trim", {"max_length": 0}).json() == {"trimmed": 1}
    assert italy.get(ITALY).json()["length"] == 0
    assert italy.get(RIDERS).json()["name"] == "italy_riders"


def test_a_rider_deleted_while_pending_is_shown_as_deleted(api: ApiClient) -> None:
    mystream = "/v1/streams/mystream"
    append(api, mystream, 0, id="1-0", fields={"myfield": "mydata"})
    api.put(f"{mystream}/groups/mygroup", {"after": "0"})
    body = {"group": "mygroup", "consumer": "myconsumer", "streams": [{"key": "mystream"}]}
    (stream,) = api.post("/v1/read-group", body).json()["streams"]
    assert stream["entries"][0]["fields"] == {"myfield": "mydata"}
    assert api.delete(f"{mystream}/entries/1-0").is_success
    body["streams"] = [{"key": "mystream", "id": "0"}]
    (stream,) = api.post("/v1/read-group", body).json()["streams"]
    (entry,) = stream["entries"]
    assert (entry["id"], entry["deleted"], "fields" in entry) == ("1-0", True, False)
