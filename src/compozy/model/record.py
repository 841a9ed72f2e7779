"""The one base of all records: frozen, keyword-only, optional fields left out of the JSON when unset."""

import sys

# msgspec looks into typing_extensions for names that typing has had since 3.11; loading that module would cost every
# command a fifteenth of its start. While it looks absent, msgspec falls back to typing; afterwards it is as before.
_LOOKS_ABSENT = "typing_extensions"
if _LOOKS_ABSENT in sys.modules or "msgspec" in sys.modules:
    import msgspec
else:
    sys.modules[_LOOKS_ABSENT] = None  # type: ignore[assignment]
    try:
        import msgspec
    finally:
        del sys.modules[_LOOKS_ABSENT]


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base record. A field without default is always on the wire; one with a default only when it differs."""
