"""Plain records, ids, times and error codes: the words every other layer shares. No I/O happens here."""
