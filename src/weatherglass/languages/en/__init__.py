"""English: sentence templates, word forms, synonyms and the Penn Treebank tokeniser."""
