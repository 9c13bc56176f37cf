"""`tailrace import` and `export`: resumable transfer between files and streams, without loss or duplicates.

**Import.** An import splits a file into chunks and sends each chunk as one `entries:import` request, which
appends all rows or none. It sends one chunk at a time and reads the next one meanwhile. A state file stores
the progress before the first chunk and after each chunk: the number of bytes, lines, rows and chunks, and a
digest of these bytes. The end of a chunk depends only on its start and on the file. A continued import
therefore builds the same chunks, and repeats the interrupted chunk byte for byte:

=====================================  ==============================================================
interrupted                            the continued import
=====================================  ==============================================================
before the request                     sends the chunk
after the request, before the commit   sends the chunk
after the commit, before the state     sends the chunk with the same idempotency key: no second append
after the state                        sends the next chunk
=====================================  ==============================================================

Each import has its own producer id, and each chunk is one epoch of that producer. The server keeps the keys
of the last two epochs without a time limit. Rows with their own ids cannot have a key (as in Redis): the
server rejects ids that are not greater, and the import then checks whether the last entry of the chunk
exists.

**Export.** An export writes complete parts. After each part it closes the compressed frame, syncs the file,
and stores the length of the file and the last id in the state. A continued export first truncates the file to
that length.

The package holds at most two chunks of a file in memory, rejects rows that it cannot represent exactly, and
accesses the server only through `app.cli.server`.
"""
