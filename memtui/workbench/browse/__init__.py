"""The main screen: the tree, the panes and bars around it, and what its keys do."""
