"""Exit numbers and error objects."""

import pytest

from memtui.errors import CODES, ConflictError, MemtuiError, NotFoundError, RefusedError, UsageError
from memtui.wire.outcomes import EXIT, MEANING, error_document, exit_code


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("E_INTERNAL", 1),
        ("E_USAGE", 2),
        ("E_QUERY", 2),
        ("E_CONFLICT", 3),
        ("E_EXISTS", 3),
        ("E_NOT_FOUND", 4),
        ("E_NO_ROOT", 4),
        ("E_NAME", 5),
        ("E_TOO_BIG", 5),
        ("E_READ_ONLY", 5),
        ("E_DISABLED", 5),
        ("E_LOCKED", 6),
        ("E_DISK_FULL", 7),
        ("E_IO", 7),
    ],
)
def test_each_code_has_the_exit_number_that_was_promised(code: str, number: int) -> None:
    assert exit_code(MemtuiError("x", code=code)) == number


def test_the_table_names_real_codes_and_explained_numbers() -> None:
    assert EXIT.keys() <= CODES.keys()
    assert {exit_code(MemtuiError("x", code=code)) for code in CODES} <= MEANING.keys()


@pytest.mark.parametrize("kind", [UsageError, ConflictError, NotFoundError, RefusedError])
def test_an_error_is_one_object_with_its_next_step(kind: type[MemtuiError]) -> None:
    error = kind("It broke.", hint="Mend it.", unharmed="All else.", details={"limit": 7, "code": "E_FAKE"})
    assert error_document(error) == {
        "error": {"code": kind.code, "message": "It broke.", "hint": "Mend it.", "unharmed": "All else.", "limit": 7}
    }
