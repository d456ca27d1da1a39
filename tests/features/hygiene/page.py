"""The page of all rules, made of the table: `python -m tests.features.hygiene.page > docs/rules.md`."""

from memtui.features.hygiene.memory_scan import all_rules

_HEAD = """# What `memtui check` looks for

Made from the table of rules. E: severe. W: worth a look. I: usually harmless, listed with
`--severity I`. What is behind a colon is found all the same, with that severity. A finding is a reason to look and no
proof, and a memory without one is not called safe.

The last column says what would mend it: `mask` the value, `strip` the characters, `cut` the words, `set` other words,
or `open` it, because a person decides. memtui does none of these by itself.
"""
_FAMILIES = {
    "S": "Secrets",
    "P": "Numbers of people",
    "H": "Hidden text",
    "I": "Orders to agents",
    "D": "Doubles",
    "T": "What is no longer so",
}


def rules_page() -> str:
    """Write the page; raises KeyError for a rule of no family."""
    lines = [_HEAD]
    for family, title in _FAMILIES.items():
        rows = [rule for rule in all_rules() if rule.id[0] == family]
        if rows:
            lines += [
                f"## {title}",
                "",
                "| Rule | What | Severity | Spared | Mended by |",
                "| --- | --- | --- | --- | --- |",
            ]
            cells = [(rule.id, rule.what, rule.severity, rule.spares, f"`{rule.fix}`") for rule in rows]
            lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
            lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    print(rules_page(), end="")
