"""What others changed since the user looked."""
