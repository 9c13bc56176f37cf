"""Followers: readers that stay and get entries as they are appended, on a WebSocket or as Server-Sent Events.

One idea over two outputs. A follower has a position and a limit, runs the next read, and says what to send.
It is woken, reads and writes in the turn of the event loop that woke it, without a task::

    store ── answer ──▶ SharedRead ──▶ Feed ──────────▶ StreamOutput: a subscription, a `PlainTail`
      ▲                                  │ arm()
      └──────────── submit(read) ◀───────┘
    store ── answer ──▶ GroupFollower ────────────────▶ GroupOutput: a consumption, a `GroupTail`

====================  ===============================================================================
`streams`             follows streams from positions: shared reads, gaps, filters
`groups`              follows streams as a consumer of a group
`selection`           filters, and the result of one read for all followers that share it
`tails`               the outputs of Server-Sent Events
`sse`                 the format of Server-Sent Events, and the ids with which a client resumes
`response`            the response that sends a tail on its connection
====================  ===============================================================================

`api.websocket.subscriptions` has the outputs of the WebSocket. The package has no routes, and never decides
what a read returns.
"""
