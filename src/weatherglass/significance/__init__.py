"""How often labels drawn at random would do as well: p-values of the permutation test (METHODS 3)."""
