"""Lists on top of the main screen: versions, changes of others, trash, messages."""
