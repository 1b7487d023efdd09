"""Explore models in the browser: four boxes of words, and the evidence at every keystroke."""
