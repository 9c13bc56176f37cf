"""Answers of the engine as values of `core.replies`, and its error lines as errors of Tailrace.

It owns the shapes of RESP2. It never asks the engine anything.
"""
