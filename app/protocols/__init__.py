"""Everything below ASGI: the connections of the server, from the bytes that arrive to the bytes that leave.

It owns the HTTP and the WebSocket protocol of a connection, and their bounds in size, number and time. It
never decides what a request means: the application does, and `api.hot` for the hot requests.

=================  ==========================================================================================
module             what it owns
=================  ==========================================================================================
`state`            which step of a connection may follow which: the theory, the states, the tables
`http`             the HTTP protocol: carries out the steps, and asks the modules below
`request_reader`   the parser: bytes to heads and pieces of bodies
`head_rules`       what a head must be beyond what the parser checks
`handshakes`       which requests open a WebSocket
`asgi`             uvicorn's ASGI cycle, for all requests but the hot ones
`hot_routes`       what a server needs to carry out hot requests
`hot_request`      one hot request until it is answered
`hot_run`          the hot requests of one read
`cached_heads`     heads that were parsed before
`hot_observer`     what is noted of a hot request
`deadlines`        how long a client may keep the server waiting
`refusals`         the answer to a request that the connection refuses by itself
`websocket`        the WebSocket protocol; `websocket_frames` makes its frames
`connections`      all connections of the server: their number, their memory, their deadlines' sweep
=================  ==========================================================================================
"""
