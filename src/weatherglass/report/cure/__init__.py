"""The judgement of a cure for readers: a page and a few lines for the terminal."""
