"""`tailrace tail`: following streams over Server-Sent Events, through lost connections.

A tail remembers the last event's id. When the connection breaks it comes back with that id, after the pause
that the server asked for, and goes on where it was: nothing is missing and nothing comes twice. Two things
can still keep an entry away, and both are said: it was trimmed before it could be read (a `gap`), or the tail
itself ended.

As a group's consumer that acknowledges, it acknowledges what is printed already. A connection that breaks in
between begins with what is pending: an entry can be printed twice and is never passed over.

It owns reading and printing of entries. It never asks the command endpoint for entries.
"""
