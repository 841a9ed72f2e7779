"""Benchmarks: figures beside targets, printed by `make bench`. Never part of the tests."""
