"""What a difference between two sets of words can be said to show: arrays in, numbers out (docs/methods 10).

Two readings of one effect: *these attributes* (`these`) and *such attributes* (`such`). Every function that ends in
`_ends`, and `crossed`, takes any number of leading axes, so that a benchmark runs the very formulas that a test does.
"""
