"""`tailrace import` and `export`: files to streams and streams to files, resumable without loss or doubling.

**Import.** A file is cut into chunks, and a chunk is one `entries:import` request: all of it or nothing.
Chunks go one after another (while one is under way, the next is read). How far it came stands in a state file
that is written before the first chunk and after each: how many bytes, lines, rows and chunks, and a digest of
those bytes. Where a chunk ends depends on where it begins and on the file alone, so a continued import cuts
as the first one did, and the chunk that was under way is the same bytes again. What may have happened to it:

=====================================  ==============================================================
the cut                                what the continued import does
=====================================  ==============================================================
before the request                     sends it
after the request, before the commit   sends it
after the commit, before the state     sends it under the same idempotency key: nothing is appended
after the state                        sends the next one
=====================================  ==============================================================

The keys belong to a producer of this run's own; each chunk is an epoch, so the server keeps the last two
however long the pause was, and no more. Where rows bring their own ids there is no key (Redis's rule): there
the server refuses ids that are not greater, and the import looks whether the chunk's last entry is there.

**Export.** Lines are written as whole parts. After each part the compressed frame is closed, the file is on
disk, and the state says up to which byte and id. A continued export cuts the file back to there.

It never holds more of a file than two chunks, never guesses about a row that does not fit, and knows a
server by `app.cli.client.http_client` alone.
"""
