"""What surrounds every request: its id, its path as sent, the bound of its body, HEAD, the end of its client.

It never knows a stream command.
"""
