"""The metrics page: reads the counters and walks the streams when Prometheus scrapes.

During requests the server only increments integers (`app.observability.counters`). A scrape reads them
(`families`), walks the streams and groups in slices or reuses the last walk (`census`), and writes
the page with `prometheus_client` (`endpoint`). Labels never contain a token, a value, an id or a path. Only
the metrics of groups contain keys and group names; `--metrics-groups 0` omits them.
"""
