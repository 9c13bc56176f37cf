"""The WebSocket: turns frames into commands and subscriptions, and replies and pushes into frames.

It owns the two subprotocols, requests and their replies, and subscriptions with their credit. Only
`api.websocket.endpoint` uses connections and tasks; the other modules use no sockets, tasks or clocks.

=========================  ==========================================================================
`requests`                 one model for each request that a client can send, and the table of all ops
`messages`                 models that document what the server sends
`codecs`                   the base class of subprotocols; `json_codec` and `msgpack_codec`: the two
`frames`                   splits frames into requests
`handshake`                checks an opening handshake, and selects the subprotocol
`plans`                    the commands of each request, and the reply from their results
`pushes`                   writes pushes
`subscriptions`            subscriptions to streams and as a group's consumer, and credit
`subscription_book`        the subscriptions of one connection
`unsettled`                the entries that a connection returns when it ends
`exchanges`                requests on their way to their replies: received, planned, run in turns
`session`                  one connection: runs requests and answers them in order
`outlets`                  interfaces: the output of a session, and the output of a connection
`endpoint`                 the connection itself and its tasks
`route`                    the path, and the import of `endpoint` at the first connection
=========================  ==========================================================================
"""
