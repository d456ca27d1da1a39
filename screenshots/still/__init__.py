"""A folder to put on the path of a program whose clock is to stand still."""
