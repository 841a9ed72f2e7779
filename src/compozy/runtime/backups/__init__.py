"""Backups of a home: the store and what a person wrote in one file, made and put back while the daemon is used."""
