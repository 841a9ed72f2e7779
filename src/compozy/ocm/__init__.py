"""Open Capability Manifests (OCM v1): what one capability can do, in a form that any router can read.

This package validates, loads and converts manifests and decides hard constraints. It knows nothing of the daemon.
"""
