"""The main screen: the tree, what is beside it, what is said around it, and what its keys do."""
