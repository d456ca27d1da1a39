"""How well the rules of hygiene tell what is one from what only looks so: precision and recall on a labelled set."""
