"""The terminal workbench. Other packages import only `memtui.workbench.app`."""
