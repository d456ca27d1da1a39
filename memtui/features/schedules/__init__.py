"""What runs by itself at its time."""
