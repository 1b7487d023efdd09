"""May et al. (2019): 46 tests on seven sentence encoders, compared with their Table 4."""
