"""The HTTP surface: requests in, commands of `core` to a store, replies out as JSON.

It owns paths, parameters, wire models, problems and the OpenAPI document. It holds no state, decides
nothing about streams, and knows its store only through `api.ports`.
"""
