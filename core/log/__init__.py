"""The entries of a stream: how an entry is stored, how blocks hold entries, how a log holds blocks.

The package never reads groups, and never decides what a command does.
"""
