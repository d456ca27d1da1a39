"""Drop-in classes for other libraries' interfaces, each behind its extra."""
