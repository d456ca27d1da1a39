"""Pictures of the program as it really runs, and the script that takes them."""
