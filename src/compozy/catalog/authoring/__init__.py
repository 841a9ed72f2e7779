"""Changing authored agent folders: create, duplicate, delete, and the history that takes a change back (formats §13).

Works on folders and files only; which definition is in force and what a caller may change belong to `runtime`.
"""
