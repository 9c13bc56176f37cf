"""The commands that show streams and groups, and change them: `ls`, `info`, `append`, `ack` and others.

The package owns their options and how rows are printed. It never follows a stream (`following`) and never
transfers files (`transfer`).
"""
