"""The commands that show a running server: `stats`, `slowlog`, and `--stat` and `--scan` of `cli`.

The package owns samples of the metrics page, the rates between two of them, and their printed forms. It never
measures with requests of its own (`loading`), and never changes a stream.
"""
