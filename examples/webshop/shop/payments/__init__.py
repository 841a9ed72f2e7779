"""Charging cards and giving money back."""
