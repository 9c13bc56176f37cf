"""The documents that describe the server: OpenAPI, the variant for SDK generators, AsyncAPI.

It never serves a request.
"""
