"""The files that hold the cards, and all the SQL about them; nothing in here is the truth, all of it is derived."""
