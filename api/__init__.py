"""The HTTP and WebSocket surface: requests become commands of `core`, replies become responses.

It owns paths, parameters, wire models, problems and the OpenAPI document. It holds no state, decides nothing
about streams, and uses the store only through `api.ports`.
"""
