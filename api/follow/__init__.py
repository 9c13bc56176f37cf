"""Followers: readers that stay and get entries as they are appended, on a WebSocket or as Server-Sent Events.

One idea over two outputs. A follower has a position and a limit, runs the next read, and says what to send.
It is woken, reads and writes in the turn of the event loop that woke it, without a task::

    store ── answer ──▶ SharedRead ──▶ Feed ──────────▶ StreamOutput: a subscription, a `PlainTail`
      ▲                                  │ arm()
      └──────────── submit(read) ◀───────┘
    store ── answer ──▶ GroupFollower ────────────────▶ GroupOutput: a consumption, a `GroupTail`

====================  ===============================================================================
`followers`           follows streams from positions, and as a consumer of a group: reads, gaps, filters
`tails`               the outputs of Server-Sent Events: which events a read leads to
`response`            the response that sends a tail
`sse`                 the format of Server-Sent Events, and the ids with which a client resumes
====================  ===============================================================================

`api.websocket.subscriptions` has the outputs of the WebSocket. The package has no routes, and never decides
what a read returns.
"""
