"""Tokens: the tokens file, and a running server's view of it, which follows changes within half a second.

===============  ===========================================================================================
`tokens`         the token itself: its text, digest and record; parsing of names, key patterns and durations
`file`           the tokens file: validated when read, written atomically by one writer at a time
`usage`          the last use of each token: a separate file; the server works without it
`authenticator`  authentication in a running server: implements `api.principals.Authenticator`
===============  ===========================================================================================

A token's text is shown once, when the token is created. The package never stores or logs that text.
"""
