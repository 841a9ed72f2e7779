"""Choosing by meaning: embeddings of what capabilities say, beside the words (issue 8; extra `compozy[semantic]`).

Nothing here is imported unless it is wanted: numpy and onnxruntime cost a second of start-up.
"""
