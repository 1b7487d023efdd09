"""Show stored runs and studies as pages, tables and figures; no number is computed here."""
