"""HTTP handling that all requests share: request ids, raw paths, body size limits, HEAD, disconnects and
errors.

The package does not use stream commands.
"""
