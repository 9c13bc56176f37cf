"""The engine: streams, groups, pending entries, and what each command does to them.

It is a function of commands and time. It never touches a clock, a socket, a thread, asyncio or HTTP, and
never imports `api` or `app`. Enter through `core.engine.Engine`; speak to it in `core.commands` and
`core.replies`.
"""
