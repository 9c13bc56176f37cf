"""Help for the codes of the engine: the engine refused the command, or the token does not allow it.

This module has texts only. A code of `core.errors` without a row here fails a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tailrace.api.problems.help.help import Help
from tailrace.api.problems.table import ProblemCode
from tailrace.core.errors import ErrorCode

COMMAND_HELP: Final[Mapping[ProblemCode, Help]] = {
    ErrorCode.INVALID_ID: Help(
        "The server could not read an entry id.",
        "An id has the form `ms-seq`, two numbers of up to 64 bits, such as `1692632086370-0`. Some "
        "operations also accept `$`, `+`, `-`, `(` or `*`; `detail` and `/docs` say which.",
        "Send the id as the server returned it, as a string. `given` holds the text that was refused.",
        "GET /v1/streams/race:france/entries?start=1692632086370-0",
    ),
    ErrorCode.ID_NOT_GREATER: Help(
        "The entry was not appended.",
        "An explicit id must exceed every id that the stream ever issued, including those of deleted "
        "entries. Two writers that choose ids, or a writer whose clock is behind, collide here.",
        "Let the server choose the id by leaving `id` out, or send an id above `last_id`. To make a repeated "
        "append safe, use an idempotency key in place of an id of your own.",
        'POST /v1/streams/race:france/entries\n\n{"fields": {"rider": "Castilla"}}',
    ),
    ErrorCode.ID_EXHAUSTED: Help(
        "The entry was not appended, and no further entry can be.",
        "The last id of the stream is the greatest possible one. A client appended an entry with that id, or "
        "set it with `:setid`.",
        "Append to another stream. If the stream may be emptied, delete it; the next append recreates it.",
        "DELETE /v1/streams/race:france",
    ),
    ErrorCode.INVALID_ARGUMENT: Help(
        "The server refused a value of the request, and changed nothing.",
        "A value is outside its range, contradicts the stream, or two options exclude each other, such as an "
        "idempotency key without an epoch and an id that the client chooses.",
        "`detail` names the value. Correct it; the ranges are in `/docs` and at `GET /v1/limits`.",
        "GET /v1/streams/race:france/entries?start=-&end=%2B&count=100",
    ),
    ErrorCode.INVALID_FILTER: Help(
        "The server could not read the filter, and read or changed nothing.",
        "A filter is a condition in a subset of CEL: equality is `==`, `and` is `&&`, texts have quotes, and "
        "numbers are compared as `double(fields.amount) >= 10.5`.",
        "`excerpt` shows the place with a caret below it, and `detail` says what the server expected there.",
        "GET /v1/streams/race:france/entries?filter=fields.rider%20%3D%3D%20%22Castilla%22",
    ),
    ErrorCode.NOT_AN_INTEGER: Help(
        "The command was not run.",
        "An argument that must be a whole number between -2^63 and 2^63-1 is something else.",
        "Send digits only, without a fraction, an exponent or a unit.",
        'POST /v1/command\n\n["XRANGE", "race:france", "-", "+", "COUNT", "10"]',
    ),
    ErrorCode.SYNTAX: Help(
        "The command was not run.",
        "The words of the command do not follow the grammar of Redis: an option is misspelt, in the wrong "
        "place, or lacks its value.",
        "Compare the command with the documentation of Redis. `error` is the exact line that Redis returns.",
        'POST /v1/command\n\n["XADD", "race:france", "MAXLEN", "~", "1000", "*", "rider", "Castilla"]',
    ),
    ErrorCode.WRONG_ARITY: Help(
        "The command was not run.",
        "The command has too few or too many words. For XADD, every field needs a value.",
        "Send each word of the command as its own string in the array.",
        'POST /v1/command\n\n["XLEN", "race:france"]',
    ),
    ErrorCode.UNKNOWN_COMMAND: Help(
        "The command was not run.",
        "The server has the commands of Redis Streams and a few general ones, such as SCAN. It has no other "
        "data types, so GET, SET or HSET are unknown. Over a WebSocket, `op` may be misspelt.",
        "Use a command from `docs/from-redis.md`. For MULTI and EXEC, send the commands to "
        "`/v1/command/multi-exec`.",
        'POST /v1/command\n\n["XADD", "race:france", "*", "rider", "Castilla"]',
    ),
    ErrorCode.NO_SUCH_STREAM: Help(
        "The stream does not exist. The request changed nothing.",
        "The stream was never created, was deleted, or its name is misspelt. In a path, a key is "
        "percent-encoded: `a/b` is `a%2Fb`.",
        "Create the stream, or append the first entry. `GET /v1/streams` lists the streams.",
        "PUT /v1/streams/race:france",
    ),
    ErrorCode.NOGROUP: Help(
        "The consumer group or its stream does not exist; `missing` says which. The request changed nothing.",
        "The group was never created, was deleted (alone or with its stream), or belongs to another stream: "
        "each stream has its own groups. The name of the stream or group may be misspelt.",
        "Create the group once, before its consumers start. `after: 0` gives it all entries of the stream; "
        "`create_stream: true` also creates a missing stream.",
        'PUT /v1/streams/race:france/groups/stewards\n\n{"after": "0"}',
    ),
    ErrorCode.BUSYGROUP: Help(
        "The group was not created, because it already exists. It was not changed.",
        "Several consumers create the group when they start, and another one was first.",
        "If you only need the group to exist, continue. To move an existing group, use `:setid`.",
        'POST /v1/streams/race:france/groups/judges:setid\n\n{"after": "0"}',
    ),
    ErrorCode.NO_SUCH_CONSUMER: Help(
        "The group has no consumer of this name. The request changed nothing.",
        "The consumer was deleted, never read, or its name is misspelt.",
        "List the consumers of the group. A consumer is created by its first read.",
        "GET /v1/streams/race:france/groups/judges/consumers",
    ),
    ErrorCode.CONSUMER_HAS_PENDING: Help(
        "The consumer was not deleted.",
        "The consumer has pending entries: they were delivered to it and not acknowledged. Deleting the "
        "consumer would drop them.",
        "Transfer the entries to another consumer with `transfer_to`, or drop them with `force=true`. A "
        "gateway cannot transfer pending entries that were deleted from the stream: acknowledge them, or "
        "use both.",
        "DELETE /v1/streams/race:france/groups/judges/consumers/alice?transfer_to=bob",
    ),
    ErrorCode.ENTRY_TOO_LARGE: Help(
        "Nothing was appended.",
        "An entry is larger than the server accepts: `entry_bytes_max` at `GET /v1/limits`.",
        "Split the value over several entries, or store it elsewhere and append a reference to it.",
        'POST /v1/streams/race:france/entries\n\n{"fields": {"video": "s3://races/france/1.mp4"}}',
    ),
    ErrorCode.LIMIT_EXCEEDED: Help(
        "The request changed nothing.",
        "The request asks for more than the server accepts at once: entries of a batch, commands of a "
        "pipeline, words of a command, ids, bytes of a pattern, keys for KEYS, parts of a stream for COPY, "
        "or keys of one epoch.",
        "Split the request; use SCAN in place of KEYS; begin another epoch if the epoch is full. `detail` "
        "names what exceeds its limit, and `GET /v1/limits` shows all limits.",
        "GET /v1/limits",
    ),
    ErrorCode.REPLY_TOO_LARGE: Help(
        "The command changed nothing. Other commands of the same pipeline or transaction are unaffected.",
        "All replies of one request together may take `reply_bytes_max` bytes (see `GET /v1/limits`). This "
        "reply is larger than the space that is left.",
        "Ask for less at once: a smaller count or range, or fewer commands in a request. `entries:export` "
        "has no such limit on its size.",
        "GET /v1/streams/race:france/entries?count=1000",
    ),
    ErrorCode.PRECONDITION_FAILED: Help(
        "Nothing was appended.",
        "The request has `if_last_id`, and another writer has appended an entry since then: `last_id` is the "
        "current last id.",
        "Read the entries after the id that you expected, decide again, and send the append with `last_id`.",
        'POST /v1/streams/race:france/entries\n\n{"fields": {"lap": "8"}, "if_last_id": "1692632102976-0"}',
    ),
    ErrorCode.POSITION_TRIMMED: Help(
        "No entries were returned.",
        "The request has `strict`, and entries at or after its position were trimmed. Or the request has an "
        "`incarnation`, and the stream was deleted or created again: then the problem has `next`, and "
        "`incarnation` if there is a stream now. Without this error, the reader would miss entries without "
        "notice.",
        "Continue after `next`, or from `first_id`, and treat the entries before it as lost. To keep entries "
        "longer, trim less. Without `strict` the server returns the entries that are left.",
        "GET /v1/streams/race:france/entries?start=1692632102976-0",
    ),
    ErrorCode.IDEMPOTENCY_MISMATCH: Help(
        "Nothing was appended.",
        "The same producer (`Producer-Id`) used the same `Idempotency-Key` before, with another body.",
        "Use a new key for new content. Repeat a request with its key only if the body is the same, byte for "
        "byte.",
        "POST /v1/streams/race:france/entries\nProducer-Id: timing-gate-1\nIdempotency-Key: batch-18\n\n"
        '{"fields": {"rider": "Castilla"}}',
    ),
    ErrorCode.STALE_EPOCH: Help(
        "Nothing was appended.",
        "The producer has already begun a later `Producer-Epoch` than the one in the request: `epoch` is the "
        "newest. Usually an older instance of the producer is still running.",
        "Stop the older instance. Let the current one send the newest epoch, or a higher one.",
        "POST /v1/streams/race:france/entries\nProducer-Id: timing-gate-1\nProducer-Epoch: 2\n"
        'Idempotency-Key: 1\n\n{"fields": {"rider": "Castilla"}}',
    ),
    ErrorCode.LAYOUT_CHANGED: Help(
        "Nothing was appended.",
        "The first request of this epoch had another `Producer-Layout`. If a batch is split differently, its "
        "idempotency keys differ, and its entries would be appended twice.",
        "Replay the epoch with the layout in `layout`. Change the layout with the next epoch.",
        "POST /v1/streams/race:france/entries\nProducer-Id: timing-gate-1\nProducer-Epoch: 3\n"
        'Producer-Layout: 8 partitions\nIdempotency-Key: 1\n\n{"fields": {"rider": "Castilla"}}',
    ),
    ErrorCode.MEMORY_LIMIT: Help(
        "The command was refused, because it would make the data grow.",
        "The server has reached `--memory-limit-mb`; or, behind a gateway (`--store`), the engine has "
        "reached its `maxmemory`. Reading, acknowledging, trimming and deleting still work.",
        "Trim or delete entries, delete unused groups, or raise this limit; then repeat the request.",
        'POST /v1/streams/race:france/entries:trim\n\n{"max_length": 100000}',
    ),
    ErrorCode.TOO_MANY_READERS: Help(
        "The read did not wait, and no entry was delivered.",
        "The server already has as many waiting reads as it allows: `waiting_readers_max` at `GET "
        "/v1/limits`.",
        "Repeat the request later, read several streams with one request, or share one WebSocket.",
        'POST /v1/read\n\n{"streams": [{"key": "race:france", "after": "0"}, {"key": "race:usa", "after": '
        '"0"}]}',
    ),
    ErrorCode.WRONGTYPE: Help(
        "The command was refused, and nothing was changed.",
        "The server runs in front of Redis or Valkey (`--store`), and another program has stored a value of "
        "another "
        "type under the key, such as a list or a hash.",
        "Use another key for the stream, or delete the value with a client of the engine.",
        'POST /v1/streams/race:france/entries\n\n{"fields": {"rider": "Castilla"}}',
    ),
    ErrorCode.CROSSSLOT: Help(
        "The command was refused, and nothing was changed.",
        "The server runs in front of a Cluster. Commands that must be one step, such as a transaction, "
        "`RENAME` and "
        "`COPY`, need all of their keys in one slot.",
        "Put the part that the keys have in common in braces: only that part decides the slot. Or send one "
        "request "
        "for each key.",
        'POST /v1/command/multi-exec\n\n[["XLEN", "{race}:france"], ["XLEN", "{race}:usa"]]',
    ),
    ErrorCode.ENGINE_LACKS_FEATURE: Help(
        "The command was refused, and nothing was changed.",
        "The server runs in front of Redis or Valkey (`--store`), and that engine lacks a feature which the "
        "server "
        "cannot emulate. `feature` is what is missing, and `needs` is an engine that has it.",
        "Use an engine that has the feature, or a server with its own storage. `engine` at `GET /v1/limits` "
        "lists what "
        "is native, emulated and refused.",
        "GET /v1/limits",
    ),
    ErrorCode.NOPERM: Help(
        "The token does not allow the request. Nothing was changed.",
        "The token lacks the scope in `required_scope`, on the key in `key` if there is one. Some options "
        "need `admin` as well as the scope of their operation, such as deleting with `:ack`; `detail` says "
        "what is allowed without `admin`.",
        "Use a token with that scope and a key pattern that matches, or leave the option out. "
        "`docs/security.md` lists the scope of every operation.",
        "POST /v1/streams/race:france/groups/judges:ack\n\n"
        '{"ids": ["1692632086370-0"], "delete": true, "references": "acknowledged"}',
    ),
}
