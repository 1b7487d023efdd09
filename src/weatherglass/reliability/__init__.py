"""How far a bias score can be trusted: corpus × algorithm × seed → scores → agreement (Du et al. 2021)."""
