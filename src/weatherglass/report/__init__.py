"""Show stored runs and studies as pages, tables and figures, without computing any number."""
