"""docs/configuration.md is what the tables of settings make of it."""

from pathlib import Path

from memtui.config import page
from memtui.config.settings import FIELDS, Settings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page.render(), "run: python -m tests.config.test_page"


def test_every_field_is_a_setting_and_has_a_sentence() -> None:
    attributes = {field.key.replace(".", "_") for field in FIELDS}
    assert attributes < set(Settings._fields)
    assert all(field.text.endswith(".") and field.kind in ("text", "texts", "number", "yes/no") for field in FIELDS)
    kinds = {"text": str, "texts": tuple, "number": int, "yes/no": bool}
    assert all(type(field.default) is kinds[field.kind] for field in FIELDS)
    assert all(field.default in field.choices for field in FIELDS if field.choices)
    assert all(field.least <= int(str(field.default)) <= field.most for field in FIELDS if field.kind == "number")


if __name__ == "__main__":
    PAGE.write_text(page.render(), "utf-8")
