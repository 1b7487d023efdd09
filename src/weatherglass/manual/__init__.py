"""The manual in the package: the pages of docs/ that a reader needs, and which section explains a warning."""
