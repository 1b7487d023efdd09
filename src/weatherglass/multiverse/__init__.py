"""The multiverse of an audit: every sensible choice at once, and whether the conclusion hangs on one (docs/methods 11)."""
