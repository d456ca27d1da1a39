"""Which view of a feature lies on top of the main screen, what it may ask, and the lists and help beside them."""
