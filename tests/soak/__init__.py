"""Long runs that look for what happens rarely: random kills under load, and many sessions opened and closed.

`make soak` runs all of it (about five minutes) and prints what it counted; `test_soak.py` runs a few rounds of it.
"""
