"""The disk: names and handles, every call to the system, locks, and small files of our own."""
