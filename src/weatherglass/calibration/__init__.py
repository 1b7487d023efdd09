"""Plant a known dose of a stereotype in a corpus, train on it, and measure how each metric responds."""
