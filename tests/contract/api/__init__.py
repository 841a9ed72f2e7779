"""One contract, two listeners: every request of the API over TCP and over the socket, success and refusal.

`script.py` is the life of one home, told once and lived twice: over TCP in one home, over the socket in another.
A new route needs a line there, unless it is a GET whose parameters are known; wrong requests are made by themselves.
"""
