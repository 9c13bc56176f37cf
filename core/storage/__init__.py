"""A keyspace on disk: the SQLite file, the journal, checkpoints, recovery.

The package owns the format (`records`, `state`, `schema`), writing it (`journal`, `checkpoint`) and reading
it (`recovery`, `salvage`). Its functions block; `app` decides which thread calls them, and when. The package
never decides what a command does, and never repairs a file in place: it reports damage.
"""
