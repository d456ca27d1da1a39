"""How memories name each other: the lines of an index, links in prose, and what of an index is loaded at all."""
