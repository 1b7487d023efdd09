"""Dictionaries: senses and synonyms from WordNet, parts of speech from Brill's lexicon."""
