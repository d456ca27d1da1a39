"""memtui: the keyboard workbench for every agent memory on this machine."""

__version__ = "0.1.0"
