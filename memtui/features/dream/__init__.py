"""Tidying up what agents remember: what is doubled, dangling or dated by `yesterday`, as proposals."""
