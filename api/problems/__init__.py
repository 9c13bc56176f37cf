"""Problems (RFC 9457): one table from errors to status, code and text, with examples and help for each.

It never decides whether something is an error.
"""
