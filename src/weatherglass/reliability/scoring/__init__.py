"""Bias scores of words: embeddings and base pairs in; score tensors (rule × word × pair × seed) out."""
