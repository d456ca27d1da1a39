"""What is made from the action table: bindings, the help page, the user's own keys, `docs/keys.md`."""
