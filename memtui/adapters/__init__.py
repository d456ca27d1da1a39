"""Drop-in classes for other libraries, each behind its extra."""
