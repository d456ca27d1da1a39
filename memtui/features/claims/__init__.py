"""Outdated claims: what memories say of a checkout or a day that is no longer so."""
