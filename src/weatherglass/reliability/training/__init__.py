"""Embeddings: encoded corpora and seeds, or files to import, in; stored embeddings out."""
