"""The embedded store: the single writer around the engine, group commit, waiting readers, the data directory.

It never knows a route or a request.
"""
