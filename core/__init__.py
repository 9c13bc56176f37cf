"""The engine: streams, groups, pending entries, and what each command does to them.

Its results depend on commands and time only. It never uses a clock, a socket, a thread, asyncio or HTTP, and
never imports `api` or `app`. The entry point is `core.engine.Engine`, which executes `core.commands` and
returns `core.replies`.
"""
