"""The sentence encoders of May et al. (2019), from their original weight files."""
