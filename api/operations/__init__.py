"""The table of operations: how a request becomes a command, and how the answer to its reply is written.

Each operation of the table has its rule once. A server has two adapters to it. The hot way (`app.protocols`)
uses neither FastAPI nor a task, and serves nearly all requests. The documented routes (`api.routes`) declare
the operations for OpenAPI, and serve the requests that the hot way leaves: headers and queries in uncommon
forms, and bodies and pages that are read or written in slices. The WebSocket (`api.websocket`) makes its
commands with the same functions.

`table` lists the operations, and `appends`, `reads`, `pending` and `words` own their rules. `headers` and
`requests` decide which requests take the hot way. The package never uses a connection, a task or a token.
"""
