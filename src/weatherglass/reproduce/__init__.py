"""Reproductions of published papers: a folder per paper, with its procedure and its published numbers."""
