"""Du, Fang & Nguyen (2021): reliability of word embedding bias measures over random seeds."""
