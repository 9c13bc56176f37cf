"""The store: the single writer of the engine, group commit, waiting reads and the data directory.

It owns the order of commands and the durability of their results. It never handles a route or a request.
"""
