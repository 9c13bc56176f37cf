"""The remote store: the store of streams in front of Redis or Valkey, alone, with Sentinel, or as a Cluster.

It owns the translation between commands of `core` and commands of the engine, and the connections to the
engine. It never stores data, and never decides what a stream command means where the engine decides it.
"""
