"""Finding text by its words: BM25 over stems plus character groups. Shared by OCM selection and tool search.

Knows nothing of what it searches; imports nothing of the product.
"""
