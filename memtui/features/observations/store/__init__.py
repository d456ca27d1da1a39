"""Files of cards and all SQL about them; everything here is derived and can be rebuilt."""
