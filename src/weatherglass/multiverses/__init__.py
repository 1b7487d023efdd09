"""Vary the choices of an audit together, and find those that its conclusion depends on (docs/methods 11)."""
