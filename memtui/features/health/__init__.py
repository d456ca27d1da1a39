"""What is wrong with the indexes agents load, and the fixes for it: findings, the cut line, each fix as a value."""
