"""Textual that knows no memory: what is drawn, widgets, keys, and the terminal around them."""
