"""Redis's own words at a terminal: what is typed, what is sent, what is printed.

It owns the quoting rules, the printed form of replies, MULTI, completion and the prompt. It never decides
what a command means: that is the server's, and `core.grammar`'s, which it asks whether a command parses.
"""
