"""What surrounds each request: its id, its raw path, the bound of its body, HEAD, disconnects, errors.

It never knows a stream command.
"""
