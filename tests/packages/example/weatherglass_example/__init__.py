"""A metric, an encoder and an engine that weatherglass does not bring, behind entry points."""
