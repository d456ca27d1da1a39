"""The tables of docs/configuration.md; `python -m tests.config.test_settings_page` writes them anew."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from memtui.config.named import NAMED, NamedKey
from memtui.config.settings import ACCESS, FIELDS, ROOT_KEYS, TABLES, VARIABLES, SettingField, Settings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"


def with_tables(text: str) -> str:
    """Replace each table of the page that has a generated one's head."""
    for table in tables():
        head = table.partition("\n")[0]
        text, count = re.subn(rf"^{re.escape(head)}\n(?:\|.*\n)*", table.replace("\\", r"\\"), text, flags=re.MULTILINE)
        assert count == 1, head
    return text


def tables() -> Iterator[str]:
    yield table(("Setting", "Type", "Default", "What it does"), map(setting, FIELDS))
    yield table(("Setting", "What it is"), ((f"`{name}`", text) for name, text in TABLES))
    yield table(("Word", "What the agent may do"), ((f"`{word}`", text) for word, text in ACCESS))
    roots = ((f"`{name}`", "yes" if needed else "no", text) for name, text, needed in ROOT_KEYS)
    yield table(("Key", "Needed", "What it is"), roots)
    yield table(
        ("Table", "Key", "Needed", "What it is"),
        (
            (f"`[{name}.NAME]`", f"`{key.key}`", "yes" if key.needed else "no", key_text(key))
            for name, (_, keys) in NAMED.items()
            for key in keys
        ),
    )
    yield table(("Variable", "Whose", "What it does"), ((f"`{name}`", whose, text) for name, whose, text in VARIABLES))


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, tuple("---" for _ in head), *rows))


def key_text(key: NamedKey) -> str:
    words = " or ".join(f'`"{choice}"`' for choice in key.choices)
    return f"{key.text} {words[:1].upper()}{words[1:]}.".replace(" .", "")


def setting(field: SettingField) -> tuple[str, str, str, str]:
    kind = " or ".join(f'`"{choice}"`' for choice in field.choices)
    kind = (
        kind
        or {
            "number": f"whole number, {field.least} to {field.most:,}",
            "yes/no": "`true` or `false`",
            "texts": "list of texts",
            "text": "text",
        }[field.kind]
    )
    plain = "[]" if field.default == () else str(field.default).lower()
    default = f'"{field.default}"' if isinstance(field.default, str) else plain
    return f"`{field.key}`", kind, f"`{default}`" + (f"; {field.otherwise}" if field.otherwise else ""), field.text


def test_the_page_is_up_to_date() -> None:
    text = PAGE.read_text("utf-8")
    assert text == with_tables(text), "run: python -m tests.config.test_settings_page"


def test_every_field_is_a_setting_and_has_a_sentence() -> None:
    attributes = {field.key.replace(".", "_") for field in FIELDS}
    assert attributes < set(Settings._fields)
    assert all(field.text.endswith(".") and field.kind in ("text", "texts", "number", "yes/no") for field in FIELDS)
    kinds = {"text": str, "texts": tuple, "number": int, "yes/no": bool}
    assert all(type(field.default) is kinds[field.kind] for field in FIELDS)
    assert all(field.default in field.choices for field in FIELDS if field.choices)
    assert all(field.least <= int(str(field.default)) <= field.most for field in FIELDS if field.kind == "number")


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
