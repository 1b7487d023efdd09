"""Word forms, sentence templates, tokenisers and lexicons: what depends on a language."""
