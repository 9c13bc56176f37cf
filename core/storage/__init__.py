"""A keyspace on disk: the SQLite file, the journal, checkpoints, recovery.

Owns the format (`records`, `state`, `schema`), writing it (`journal`, `checkpoint`) and reading it
(`recovery`). Plain blocking code: which thread runs it, and when, is `app`'s. It never decides what a
command does, and it never repairs: what is damaged is named.
"""
