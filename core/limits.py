"""The limits of the server, each defined once, with its reason. `GET /v1/limits` shows them.

A limit bounds the cost of one request, never the size of a stream. This module holds numbers only.
"""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

NAME_BYTES_MAX: Final = 512
"""Key, group and consumer names: URLs contain them, and proxies cut URLs at 8 KiB. A longer producer id or
idempotency key is stored as its digest."""

FIELDS_PER_ENTRY_MAX: Final = 65_536
"""Field-value pairs in one entry. An entry is parsed without a pause, which blocks the single writer."""

URL_BYTES_MAX: Final = 64 * KIB - 1
"""A request's target. It has room for a tail of a thousand streams with names of usual length, and the
parser's offsets of 16 bits allow no more. A longer list belongs in a body."""

HEAD_BYTES_MAX: Final = 128 * KIB
"""A request's line and headers together, and a chunked body's trailer. It has room for the longest target and
for the positions from which a tail of many streams resumes (`Last-Event-ID`)."""

HEADERS_MAX: Final = 100
"""Header lines of one request; common servers and proxies have the same limit."""

ENTRY_BYTES_MAX: Final = 16 * MIB
"""One entry's fields as JSON. The practical limit of Redis clients is of the same order (Kafka: 1 MiB)."""

BODY_BYTES_MAX: Final = 64 * MIB
"""A request body, after decompression. The whole body is in memory, because a batch is appended completely or
not at all."""

BODY_MEMBERS_MAX: Final = 10_000
"""gzip members or zstd frames of one compressed body. Each needs a decompressor, which takes about 10 us.
Parallel compressors write at most one per 64 KiB, so 64 MiB have about 1 000."""

LARGE_IMPORTS_MAX: Final = 2
"""Import bodies above 1 MiB that are decompressed and decoded at the same time. Each can occupy a thread, and
the memory of a decompressed body and its entries. Further bodies wait in compressed form."""

BATCH_ENTRIES_MAX: Final = 100_000
"""Entries in one batch or import: about 0.1 s of the writer's time."""

BODY_LINES_MAX: Final = 2 * BATCH_ENTRIES_MAX
"""Lines of an NDJSON body: the maximum number of entries, and the same number of blank lines."""

BULK_ELEMENTS_MAX: Final = 2_000_000
"""Members and items in one body of a batch, an import or a pipeline, or in one WebSocket message. Decoding
each takes half a microsecond and a hundred bytes before it can be validated: about a second of the writer's
time in all. Without the limit, 64 MiB of commas would take half a minute and gigabytes of memory."""

BODY_ELEMENTS_MAX: Final = 300_000
"""Members and items in the JSON body of one entry or one command: the longest list of arguments."""

REQUEST_ELEMENTS_MAX: Final = 30_000
"""Members and items in any other JSON body. The largest one has `IDS_PER_REQUEST_MAX` ids. The description of
an invalid member takes about 2.5 us, and all members of a body are described without a pause."""

IDS_PER_REQUEST_MAX: Final = 10_000
"""Ids named in one ack, nack, claim or delete: each costs up to 7 us with its text, less than 0.1 s of the
writer's time together, even if the ids are in no order."""

REFERENCE_LOOKS_MAX: Final = 150_000
"""Ids times groups with pending entries of one XDELEX or XACKDEL under DELREF or ACKED: each takes 0.6 us,
about 0.1 s together. This allows 10 000 ids in 15 groups."""

KEYS_PER_REQUEST_MAX: Final = 10_000
"""Keys named in one DEL or EXISTS: removing a stream from the indexes takes up to 6 us."""

READ_STREAMS_MAX: Final = 1_000
"""Streams named in one read."""

PAGE_ENTRIES_MAX: Final = 100_000
"""Entries in one page of a REST reply, and the default if the request has no count; `next` is the position of
the next page."""

READ_ENTRIES_MAX: Final = 20_000
"""Entries that one read of streams or of a group returns, and pending entries in one page, for every count in
the request: each takes up to 4 us of the writer's time. The next read continues from there."""

PAGE_BYTES_MAX: Final = 8 * MIB
"""Bytes of entries in one page of a REST reply: a page ends early at this size. The last entry may exceed it,
so a page can contain an entry of any allowed size."""

LIST_PAGE_MAX: Final = 10_000
"""Streams in one page of `GET /v1/streams`."""

LIST_PAGE_DEFAULT: Final = 100
"""Streams in a page of `GET /v1/streams` if the request has no limit."""

PIPELINE_COMMANDS_MAX: Final = 10_000
"""Commands in one pipeline. Other requests are served between them."""

TRANSACTION_COMMANDS_MAX: Final = 2_000
"""Commands in one transaction, which holds the writer until it ends: about 0.04 s of appends."""

TRANSACTION_STEPS_MAX: Final = 100_000
"""Work of one transaction, in steps of about a microsecond, estimated before it runs: 10 for a command, 6 for
an id, 4 for an entry that is delivered to a group (`core.transaction_work`). About 0.1 s."""

COMMAND_STEPS_MAX: Final = 80_000
"""The most steps that one command of a transaction counts, so that the largest command leaves room for
others."""

COMMAND_ARGUMENTS_MAX: Final = 262_144
"""Words in one command of the command endpoint: enough for the largest entry or id list."""

COPY_PARTS_MAX: Final = 20_000
"""Blocks, groups, consumers, runs of pending entries, single pending entries and idempotency keys that one
COPY, or all COPYs of one transaction, may copy. Entries are shared: a block has about a hundred of them, or
4 KiB. This many blocks take the writer half a second; this many single pending entries take two seconds and
100 MiB."""

PATTERN_BYTES_MAX: Final = 2 * NAME_BYTES_MAX
"""A glob pattern of KEYS, SCAN, CONFIG GET or a token: the longest name with every byte escaped. Matching
takes up to the pattern's length times the key's."""

MATCHING_STEPS_MAX: Final = 10_000_000
"""Work on patterns in one request. Each examined key takes 64 steps, and more if the pattern has to search in
it (`core.glob`). This bounds KEYS to about 0.1 s of the writer's time, or 150 000 keys with the literal
beginning of the pattern; SCAN ends its step early instead."""

SCAN_COUNT_MAX: Final = 1_000
SCAN_REQUEST_KEYS_MAX: Final = 10_000
"""Keys that one SCAN examines at once, and in steps with pauses as the only command of an HTTP request."""

REPLY_BYTES_MAX: Final = 48 * MIB
"""The replies of one request together: the JSON text of entries and names, and 128 bytes for each entry or
name. A reply exists up to three times while it is written, so one request stays below 256 MiB. The largest
entry fits twice."""

TURN_COMMANDS_MAX: Final = 100
"""Commands of a pipeline that run before other requests get a turn: a few milliseconds of appends."""

TURN_STEPS_MAX: Final = 10_000
"""Work of a pipeline, or of the requests of one WebSocket, after which others get a turn: about 10 ms,
in the steps of a transaction."""

TURN_REPLY_BYTES_MAX: Final = 256 * KIB
"""Reply bytes of a pipeline, or of the requests of one WebSocket, after which other requests get a turn:
about 10 ms of small entries. The size of a refused reply counts as well."""

SPLIT_PARTS_MAX: Final = 10_000
"""Parts that `entries:split` plans at once."""

WAIT_MS_MAX: Final = 60_000
"""The longest wait of one request: below the idle time at which common proxies cut (60 s)."""

NODE_ENTRIES_DEFAULT: Final = 100
"""`stream-node-max-entries`: the unit of approximate trimming, as in Redis."""

NODE_BYTES_DEFAULT: Final = 4096
"""`stream-node-max-bytes`, as in Redis."""

IDMP_DURATION_S_DEFAULT: Final = 100
IDMP_DURATION_S_MAX: Final = 86_400
"""`stream-idmp-duration`: how long an idempotency key is remembered, in seconds."""

IDMP_MAXSIZE_DEFAULT: Final = 100
IDMP_MAXSIZE_MAX: Final = 10_000
"""`stream-idmp-maxsize`: how many idempotency keys are remembered for each producer."""

IDMP_KEYS_MAX: Final = 1_000_000
"""Idempotency keys of one stream with an epoch, and as many without: a few hundred MiB of memory. Above it,
the producer that was used least recently is forgotten. Fifty producers may have the most keys each."""

EXPIRING_STREAMS_PER_STEP: Final = 1_000
"""Streams whose expired idempotency keys are forgotten in one step: a few milliseconds. The next step follows
at once, after other requests."""

EPOCH_PRODUCERS_MAX: Final = 10_000
"""Producers with an epoch that one stream remembers. A few dozen producers write at the same time. Each batch
write of Spark adds a producer, so this is enough for a week of one batch per minute. Redis has no epochs."""

EPOCH_KEYS_MAX: Final = 100_000
"""Idempotency keys in one epoch; a further key is refused. At Spark's default of 5 000 rows a request, a full
epoch is a batch of 500 million rows."""

TRIM_LIMIT_FACTOR: Final = 100
TRIM_LIMIT_FALLBACK: Final = 10_000
TRIM_LIMIT_MAX: Final = 1_000_000
"""The default LIMIT of an approximate trim: factor x node entries, clamped (rule 12)."""

ACKED_TRIM_LOOKS_MAX: Final = 10_000
"""The steps of one trim under ACKED: one for each block in which a group has pending entries, and one for
each entry of a block if only some of its entries are pending. About 0.05 s of the writer's time; the next
trim continues from there (rule 15)."""

XAUTOCLAIM_SCAN_FACTOR: Final = 10
"""XAUTOCLAIM examines at most COUNT times this many pending entries a call (rule 52)."""

XAUTOCLAIM_SCAN_MAX: Final = 20_000
"""Pending entries that one XAUTOCLAIM examines, even if its COUNT is higher: about 0.06 s of the writer's
time. The next call continues from the returned cursor."""

PENDING_LOOKS_MAX: Final = 200_000
"""Pending entries, or units of them, that one command examines without success: XREADGROUP with CLAIM among
deleted entries, XPENDING with IDLE among entries that are not idle. About 0.05 s of the writer's time."""

AUTOCLAIM_COUNT_MAX: Final = 1 << 32
"""XAUTOCLAIM refuses a COUNT for which Redis could not allocate its list of deleted ids (rule 52)."""

DEAD_LETTERS_MAX: Final = 1_000
"""Entries that one command moves to a dead-letter stream, and dead letters that one redrive sends back: each
takes about 10 us, 0.01 s of the writer's time together. The next command moves the following ones."""

CONSUMER_EXPIRY_MS_MIN: Final = 5_000
"""The shortest `consumer_expiry_ms`. The server looks once a second, and marks a consumer that waits as seen
after a quarter of its time, so a delay of seconds expires no consumer."""

DEAD_LETTER_BYTES_MAX: Final = 8 * MIB
"""Bytes of entries that one command moves in either direction; the last entry may exceed it."""

RETIRED_BLOCKS_PER_APPEND: Final = 100
"""How many blocks one append removes by the retention of its stream: 2 ms. The sweep removes the rest."""
RETIRED_ENTRIES_PER_STEP: Final = 50_000
RETENTION_STREAMS_PER_STEP: Final = 100
"""How many entries one step of the retention sweep removes, and how many streams it examines: 5 ms each."""

FILTER_CHARACTERS_MAX: Final = 4_096
"""Characters of a filter. Parsing takes about 10 us for each word, so less than 10 ms for a filter."""

FILTER_DEPTH_MAX: Final = 32
"""How deeply the conditions of a filter may be nested: compiling and testing call a function for each."""

FILTER_TESTS_MAX: Final = 64
"""Tests of single fields in one filter: each takes up to 0.3 us for each entry."""

FILTER_STEP_ENTRIES: Final = 1_000
FILTER_STEP_BYTES: Final = 256 * KIB
"""How many entries, and bytes of entries, are tested at once before other requests are served: about a
millisecond of small entries. The last entry of a step may exceed the bytes."""

FILTER_TURN_ENTRIES_MAX: Final = 10 * FILTER_STEP_ENTRIES
"""How many entries the filters of groups examine in one transaction, or in one turn of a pipeline: about
10 ms. A read beyond this finds nothing; the next one continues there."""

FILTER_READ_MS_MAX: Final = 5_000
"""How long a read of a group that does not wait looks for an entry that matches the group's filter, before it
returns none. The next read continues there."""

FILTER_SCAN_ENTRIES_MAX: Final = 100_000
FILTER_SCAN_BYTES_MAX: Final = 64 * MIB
"""How many entries, and bytes of entries, one request with a filter examines: about 0.1 s of work in all. The
reply has the position from which the next request continues."""

# --- reads of groups and of pending entries ----------------------------------------------------------

PENDING_STEPS_MAX: Final = 40_000
"""Work of one XREADGROUP with CLAIM or of a consumer's history, or of one XAUTOCLAIM, in steps of about 1.5
us: about 0.06 s of the writer's time. `core.bounds.reply_budget` counts them. This allows `READ_ENTRIES_MAX`
entries that were delivered together, and about 2 600 entries that were claimed one at a time in no order. The
next read continues from there."""

INFO_FULL_PARTS_MAX: Final = 5_000
"""Groups and consumers that XINFO STREAM FULL shows. Each takes the writer about 12 us."""

# --- groups that deliver in order by key: what the order of one group keeps in memory ----------------
# About 25 MiB for each of the first two.

HELD_ENTRIES_MAX: Final = 100_000
"""Entries that one group holds because their key is in flight. At this number the group reads no further
until one of them is delivered or deleted: then one slow key holds back the others, too."""

KEYS_IN_FLIGHT_MAX: Final = 100_000
"""Entries with a key that one group has in flight. At this number the group delivers no further ones until
some are acknowledged."""

ORDERED_ENTRIES_MAX: Final = 10_000
"""Pending and held entries whose keys are read when `order_by` is set for their group: each takes up to 10
us, so less than 0.1 s of the writer's time together."""

ORDER_KEY_BYTES_KEPT: Final = 64
"""The longest value that is kept as it is. A longer one is kept as its digest of this many bytes and one
more, so that keys take little memory, whatever clients send."""

# --- delays: entries that are scheduled, and retries that come later ---------------------------------

DELAY_MS_MAX: Final = 366 * 86_400_000
"""The longest delay of an entry or of a retry, in milliseconds: a year. A time in seconds or microseconds,
sent by mistake, is mostly beyond it or in the past."""

BACKOFF_FACTOR_MAX: Final = 100
"""The greatest factor of a backoff: with it, three deliveries lead from a second to hours."""

SCHEDULED_ENTRIES_MAX: Final = 100_000
SCHEDULED_BYTES_MAX: Final = 32 * MIB
"""Scheduled entries of one stream, and their bytes. They are in memory, and each checkpoint writes those of a
changed stream again, which takes about 0.05 s."""

SCHEDULED_ENTRIES_TOTAL_MAX: Final = 1_000_000
SCHEDULED_BYTES_TOTAL_MAX: Final = 512 * MIB
"""Scheduled entries of all streams together, and their bytes."""

SCHEDULED_PAGE_MAX: Final = 1_000
"""Scheduled entries in one page of their list."""

DUE_ENTRIES_PER_STEP: Final = 1_000
"""Entries that one step publishes or releases once their time has come: about 5 ms. The next step follows
after other requests."""

DUE_BYTES_PER_STEP: Final = 8 * MIB
"""Bytes of entries that one step publishes; the last entry may exceed it."""

DUE_PLACES_PER_STEP: Final = 200
"""Streams and groups that one such step examines."""
