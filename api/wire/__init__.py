"""The wire format: reads bodies, names and parameters of requests, and writes replies.

The package never decides who may send a request, and keeps no state between requests.
"""
