"""Every sensible choice of an audit at once, and whether the conclusion hangs on one (docs/methods 11)."""
