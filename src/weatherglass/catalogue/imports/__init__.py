"""Tests that others published, from their files to ours: a file per format; nothing in a file is executed."""
