"""The WebSocket: turns frames into commands and subscriptions, and replies and pushes into frames.

It owns the two subprotocols, requests and their replies, and subscriptions with their credit. Only
`api.websocket.endpoint` uses connections and tasks; the other modules use no sockets, tasks or clocks.

=========================  ==========================================================================
`request`                  the base class of requests
`requests`                 requests of commands, entries and acknowledgments, and the table of all ops
`subscription_requests`    requests of subscriptions
`messages`                 models that document what the server sends
`codecs`                   the base class of subprotocols; `json_codec` and `msgpack_codec`: the two
`raw_appends`              reads appends with options; `json_appends`: those without, many at once
`frames`                   splits frames into requests
`handshake`                checks an opening handshake
`plan`                     the commands of a request, and the reply from their results
`plans`                    finds the function that plans a request
`command_plans`            plans of commands and appends
`pending_plans`            plans of acknowledgments and claims
`subscription_plans`       plans of subscriptions
`pushes`                   writes pushes, and applies filters to entries
`shared_reads`             one read for all subscriptions at the same position of a stream
`credit`                   how much a subscription may still push
`subscriptions`            subscriptions to streams; `consumption`: those of a group's consumer
`subscription_book`        the subscriptions of one connection
`unsettled`                the entries that a connection returns when it ends
`exchanges`                requests on their way to their replies: received, planned, run in turns
`session`                  one connection: runs requests and answers them in order
`greeting`                 the server's first frame
`outlets`                  interfaces: the output of a session, and the output of a connection
`endpoint`                 the connection itself and its tasks
`route`                    the path, and the import of `endpoint` at the first connection
=========================  ==========================================================================
"""
