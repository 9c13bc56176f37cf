"""Tokens: the tokens file, and how a running server knows its changes within half a second.

==========  ===============================================================================================
`tokens`    what a token is: its text, its digest, its record; names, scopes and times as people write them
`file`      the tokens file: read and judged whole, written atomically, one writer at a time
`usage`     when each token was last used: a file beside it that nothing depends on
`keeper`    who is who in a running server: `api.principals.Authenticator`
==========  ===============================================================================================

The text of a token is shown once, when it is made. Nothing here keeps it, logs it, or takes it as an
argument.
"""
