"""Vary the choices of an audit together, and find those on which its conclusion depends (docs/methods 11)."""
