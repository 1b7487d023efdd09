"""Azarpanah & Farhadloo (2021): ten tests under twenty measures, compared with their Tables 3 and 4."""
