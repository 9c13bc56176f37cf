"""The entries of a stream: how one entry is stored, how blocks hold entries, how the log holds blocks.

It never looks at groups, commands or replies to clients.
"""
