"""The one base of all records: frozen, keyword-only, optional fields left out of the JSON when unset."""

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base record. A field without default is always on the wire; one with a default only when it differs."""
