"""German: word forms with gender and case, sentence templates and a tokeniser."""
