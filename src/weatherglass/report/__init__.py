"""Reports: stored runs and studies in; pages, tables and figures out. Nothing is computed here."""
