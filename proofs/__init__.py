"""Proofs on real models: not tests, since they download and take minutes; `make models-proof` runs them."""
