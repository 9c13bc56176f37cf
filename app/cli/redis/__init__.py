"""The Redis prompt of the command line: quoting, printed replies, MULTI, completion and line editing.

It owns the quoting rules, the printed form of replies, the state of MULTI, and completion. It never decides
what a command means: the server does. To check whether a command parses, it uses the parser of `core`.
"""
