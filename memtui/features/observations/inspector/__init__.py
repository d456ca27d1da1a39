"""The inspector: cards on a screen, with what a person decides about them."""
