"""Which words are measured reliably? Tables of agreement and embeddings in; word features and regressions out."""
