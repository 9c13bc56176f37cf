"""Pending entries lists: which consumer owns which entry of a group, since when, and how often it was
delivered.

It never reads the fields of an entry, and never decides what a command does.

One representation, in three composed parts: `segment` (marks and rows), `order` and `segment_index` (what
finds segments), and `segment_table`, which keeps them in step for `pending_list`.

A **segment** has up to 1 024 entries with neighbouring ids. One byte for each entry, its mark, names the row
that has its owner, time, serial and delivery count; 255: not pending (any more). Rows are columns of the
segment, and rise by time and serial, so that "idle" is a bound of marks, and the first row is the earliest
entry. A row that has no entry any more stays until the rows are full. What holds:

* Segments do not overlap; an id is in one of them at most. A segment has at least one pending entry.
* Time and serial are the order of delivery; entries with equal ones are in the order of ids. A change of ids
  that rise gives all of them one serial; else the serial rises at each id that is below the one before it.
* A segment has at most 224 rows of its own and 31 batches. If it has no room, it forgets its rows without
  entries; if that is not enough, it is halved.

A **batch** is a row that many segments have: entries claimed together, far from each other or in no order.
It knows its ids in order. A claim of all of them changes the batch alone. Without batches, a claim of 1 000
entries in 1 000 segments takes 5 ms more, each time.

How operations map to bytes (n: entries of a segment, all in C):

| operation | on marks | cost |
|---|---|---|
| acknowledge, delete | write 255 | a search of the id |
| claim some, nack, hold | a new row, write its number | a search of each segment |
| claim all of a segment | one row, all marks 0 | O(n) |
| entries of a consumer, idle ones | `translate` to 0 and 1, `compress` the ids | O(n) |
| the next ones in order | `find` for one entry, else `translate`, `compress` | O(n) |
| count a range | `count` 255 | O(n) |
| trim | mask, or 255 where it is 1 | O(n) |
| transfer | the owner of rows | O(rows) |

Indexes have bounds that may be too early: a segment is filed in the order at or before its first entry, and
under owners that may have none of its entries any more. Reading repairs what it finds.
"""
