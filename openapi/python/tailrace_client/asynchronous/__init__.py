"""The client for asyncio programs: connection, streams, groups and consumers.

`make sdk-python` writes the package `blocking` from this one: without `async` and `await`, with the classes'
names without `Async`, and with `threads` in place of `tasks`.
"""
