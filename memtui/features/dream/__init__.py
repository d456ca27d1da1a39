"""Tidying up memories: duplicates, dangling pointers, relative dates and more become proposals."""
