"""Choosing a capability for a task: hard constraints first, then words, then the right to say that none fits.

Lexical and pure Python: no model is loaded and nothing leaves the machine. It knows targets, not files or daemons.
"""
