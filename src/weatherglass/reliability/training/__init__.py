"""Train embeddings from encoded corpora and seeds, or import them from files, and store them."""
