"""Redis syntax at a terminal: quoting, printed replies, MULTI, completion, the prompt.

It owns the quoting rules, the printed form of replies, MULTI, completion and the prompt. It never decides
what a command means: that is the server's, and `core.grammar`'s, which it asks whether a command parses.
"""
