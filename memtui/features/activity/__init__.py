"""Everything that was done, by anybody, and taking it back."""
