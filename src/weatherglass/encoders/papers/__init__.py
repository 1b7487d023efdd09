"""Encode with the sentence encoders of May et al. (2019), from their original files of weights."""
