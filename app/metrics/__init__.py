"""The metrics page: reads the counters and walks the streams when Prometheus scrapes.

On the way of a request only integers are counted, in objects that stand there from the start
(`requests`, `commands`, `commits`, `connections`); at the scrape they are read (`families`), what
grows with the data is walked in slices (`census`), and `prometheus_client` writes it (`endpoint`). A
label's value is never a token, a value, an id or a path; keys and groups stand in the figures by group,
and `--metrics-groups 0` leaves them out.
"""
