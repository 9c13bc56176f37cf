"""Commands on many keys: lists of streams, deletion and renaming, and the settings and figures of the whole
engine.

It owns how such a command is divided over the slots and nodes of a Cluster. It never reads entries.
"""
