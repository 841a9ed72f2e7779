"""The limits on authored files (decisions D11): bombs and accidents end in one clear diagnostic."""

# Larger than every authored file seen in the wild, small enough to read at once.
MAX_FILE_BYTES = 4 * 1024 * 1024
# Deeper than any field tree of ours; keeps recursive readers far from the interpreter's limit.
MAX_NESTING = 64
MAX_ALIASES = 1_000
# An alias may repeat content; a document that grows beyond this is a bomb.
MAX_EXPANDED_NODES = 1_000_000
MAX_CAPABILITIES = 10_000
# More problems than this in one file help nobody; the last one says that the list was cut.
MAX_PROBLEMS = 500
