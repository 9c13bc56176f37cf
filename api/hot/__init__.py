"""The hot operations: those that a server carries out thousands of times a second, on their shortest way.

It owns what both ways to a hot operation share, so that nothing is written twice: the table of the operations
(`operations`), the commands that their bodies ask for (`commands`), the bytes of their replies (`answers`),
and which requests may take the hot way (`requests`). The documented routes in `api.routes` use the first
three; the connections in `app.protocols` use all four. It never sees a connection, a task or a token.
"""
