"""Benchmarks: figures beside targets, never tests."""
