"""Read and write files: atomic writes, content hashes, and pickle and torch files read without running their code."""
