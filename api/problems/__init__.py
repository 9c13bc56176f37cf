"""Error responses (RFC 9457 problems): the status, title, texts, example and help of each error code.

The package never decides whether something is an error.
"""
