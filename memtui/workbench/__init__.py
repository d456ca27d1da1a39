"""The workbench: anything seen. Nothing here is imported by another room except through `memtui.workbench.app`."""
