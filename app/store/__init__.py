"""The embedded store: the single writer of the engine, group commit, waiting readers, the data directory.

It never knows a route or a request.
"""
