"""Reads of streams and groups: alone, over several slots, and waiting.

It owns which waiting read looks when, the reads that waiting readers share, the timers, and what happens to
entries whose reader has left. It never decides which entries a read gets: the engine does.
"""
