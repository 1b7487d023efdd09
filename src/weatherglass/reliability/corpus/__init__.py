"""Corpora: text files in; encoded corpora and co-occurrence counts on the disk out."""
