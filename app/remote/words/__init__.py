"""Commands of `core.commands` in Redis's words: what to send for each command, and how its answers become a
reply.

It owns the spelling of every command that concerns the keys of one slot. It sends nothing, waits for nothing,
and never decides what a command means: the engine does.
"""
