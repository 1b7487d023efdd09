"""The multiverse for readers: tables, curves as text and as figures, and a page."""
