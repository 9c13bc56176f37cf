"""The hot operations: the operations that a server runs thousands of times per second.

A hot operation has two implementations: its documented route in `api.routes`, and the hot way in
`app.protocols`, which uses neither FastAPI nor a task. This package owns the code that both share: the table
of the operations (`operations`), the commands for their bodies (`commands`, `plain_appends`), and the bytes
of their replies (`answers`). It also decides which requests may use the hot way (`requests`), and what they
need of a store (`store`). It never uses a connection, a task or a token.
"""
