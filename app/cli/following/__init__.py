"""`tailrace tail`: following streams over Server-Sent Events, through lost connections.

A tail remembers the id of the last event. When the connection breaks, it waits, reconnects with that id and
continues without loss or repetition. Entries are missing only in two
cases, and the tail reports both: they were trimmed before they were read (a `gap`), or the server ended the
tail.

A tail that reads as a consumer with acknowledgment acknowledges entries after it has printed them. After a
lost connection it first reads its pending entries: an entry may be printed twice but is never skipped.

It owns reading and printing of entries. It never reads entries through the command endpoint.
"""
