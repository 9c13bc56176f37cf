"""The engine of Tailrace: streams, groups, pending entries, and every command on them.

Owns what a stream is and what each command does to it, as a function of commands and time. Never
touches a clock, a socket, a thread, asyncio or HTTP, and imports nothing above it. Enter through
`core.engine.Engine`; speak to it in `core.commands` and `core.replies`.
"""
