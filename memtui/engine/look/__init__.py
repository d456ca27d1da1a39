"""What is on the disk: roots, their names and rows, and what others changed in them."""
