"""Read and write files: atomic writes, content hashes, and readers for pickle and torch files that run no code."""
