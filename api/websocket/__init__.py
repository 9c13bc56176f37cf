"""The WebSocket: frames to commands and subscriptions, replies and pushes to frames.

It owns the two subprotocols, requests and their replies, subscriptions and their credit. It never
touches a connection, a task or a clock: `api.websocket.endpoint` carries bytes and time to it.

==================  =================================================================================
`limits`            every bound of a connection, with its reason, and the close codes
`requests`          what a client may send, as models
`messages`          what the server sends, as models that document it
`codecs`            what a subprotocol is; `json_codec`, `msgpack_codec`, `subprotocols`: the two
`plans`             what a request asks of the store, and how the answer is told
`pushes`            what is pushed, and which entries a filter lets through
`shared_reads`      one read for all subscriptions that stand at the same place
`subscriptions`     streams and groups pushed under credit; `subscription_book`: those of one connection
`held`              what is given back when a connection ends
`session`           one connection: requests in order, replies in order
==================  =================================================================================
"""
