"""Agreement of scores: score tensors in; ICC, alpha, the tables of a study and the three claims out."""
