"""The documents that describe the server: OpenAPI, its form for SDK generators, AsyncAPI.

It never serves a request.
"""
