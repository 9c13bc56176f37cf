"""The link to the engine: URLs, pipelined connections, routing by slot, and the retries that are safe.

It owns which node gets a command and what happens when a node fails. It never reads the meaning of a reply,
and never sends a write again if the first one may have been executed.
"""
