"""Files that hold many entries: taken apart, and changed one entry at a time without another byte."""
