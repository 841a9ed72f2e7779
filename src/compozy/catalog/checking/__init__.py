"""Checking and repairing authored files wherever they lie, without a daemon (issue 3 items 4 and 5).

`targets` finds the files below a path, `files` checks one of them, `run` does both for many and repairs on request.
"""
