"""Everything below ASGI: the connections of the server, from the bytes that arrive to the bytes that leave.

The package owns the HTTP and the WebSocket protocol of a connection, and the limits on size, number and time.
It never decides what a request means: the application does, and `api.operations` for the hot requests.

=================  ==========================================================================================
module             what it owns
=================  ==========================================================================================
`state`            the states of a connection, and the tables of the steps that each state allows
`http`             the HTTP protocol: executes the steps, with the modules below
`request_reader`   the parser: turns bytes into heads and pieces of bodies
`head_rules`       the rules for a head that the parser does not check
`handshakes`       which requests open a WebSocket
`asgi`             uvicorn's ASGI cycle, for all requests that are not hot, and for clients of HTTP/1.0
`hot_routes`       the checks of a hot request, and its way to the store
`hot_request`      one hot request, until it is answered, and its wait for entries
`turn_budget`      how long one connection may keep the event loop, for HTTP and WebSocket
`hot_run`          the hot requests of one read of a connection, executed together
`hot_turn`         the appends of one turn of the event loop, on all connections: run and answered together
`heads`            heads of requests and of hot answers, and the reader of heads that need no parser
`hot_observer`     metrics, slow log, access log and traces of hot requests
`deadlines`        how long the server waits for a client
`refusals`         the response to a request that the connection refuses
`websocket`        the WebSocket protocol; `websocket_output` writes its frames
`connections`      all connections of the server: their number, their memory, the check of their deadlines
=================  ==========================================================================================
"""
