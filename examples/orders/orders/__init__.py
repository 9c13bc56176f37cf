"""An order pipeline on Tailrace: a shop places orders; payment, packing and mail process them.

Each step is a consumer group. It reads one stream and appends to the next one.
"""
