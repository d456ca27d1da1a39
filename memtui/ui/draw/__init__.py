"""Drawing primitives: runs of styled text, pages, differences and colours."""
