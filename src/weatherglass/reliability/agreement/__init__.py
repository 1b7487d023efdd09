"""Measure the agreement of scores: ICC, Cronbach's alpha, the tables of a study, and its claims."""
