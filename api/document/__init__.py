"""The documents that describe the API: OpenAPI, a variant of it for SDK generators, and AsyncAPI.

The package serves no stream operations.
"""
