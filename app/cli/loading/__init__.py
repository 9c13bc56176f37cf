"""`tailrace bench`: a load against a running server, with rates and percentiles.

The package owns the load, its connections and its temporary stream, which it removes at the end. It never
touches another stream, and it imports no measurement of the folder `bench/`, which starts its own servers.
"""
