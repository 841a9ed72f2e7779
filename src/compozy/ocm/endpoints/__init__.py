"""Endpoints of manifests: which one a request uses, and a callable for it (OCM §5; issue 8 item 6; decisions O3, O5).

One module for each protocol; every byte goes through the rules of `guard`. Secrets come from a resolver that the
caller gives: nothing here knows the vault, and no manifest ever names which secret is sent.
"""
