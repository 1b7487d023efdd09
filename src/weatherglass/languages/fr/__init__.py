"""French: word forms with gender and elision, sentence templates and a tokeniser."""
