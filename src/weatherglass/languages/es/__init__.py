"""Spanish: word forms with gender, sentence templates and a tokeniser."""
