"""What was deleted, and bringing it back."""
