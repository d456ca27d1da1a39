"""Claims: what memories say of a checkout and of days, and what of it is no longer so."""
