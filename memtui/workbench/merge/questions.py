"""The questions that are asked instead of a merge, in words: deleted, renamed, only line ends, a save that failed.

They are values, so that every sentence and every answer is tested without a screen, and so that all of them say in the
same way what happened, who did it, and what is kept.
"""

from __future__ import annotations

from collections.abc import Callable

from memtui.errors import MemtuiError
from memtui.workbench.merge.cases import Asked, Case
from memtui.workbench.merge.session import text_of
from memtui.workbench.merge.view import Parties

Then = Callable[[], None]


def deleted_by_them(
    parties: Parties,
    texts: tuple[bytes, bytes],
    why: str,
    *,
    keep: Then,
    let_go: Then,
    keep_as: Callable[[str], None],
    later: Then,
) -> Case:
    """They deleted what you edited.

    Args:
        parties: who and where.
        texts: BASE and YOURS.
        why: the reason they gave; empty when there is none.
        keep: write YOURS again.
        let_go: accept the deletion.
        keep_as: keep YOURS under another name.
        later: decide later.
    """
    reason = f" They said: {why}" if why else ""
    return Case(
        "gone",
        f"DELETED {parties.address}",
        (f"{parties.agent} deleted it while you had unsaved text in it.{reason}",),
        {"keep_mine": keep, "accept_deletion": let_go, "keep_as": Asked("keep it as", parties.address, keep_as)},
        later,
        "your change against BASE, the text you opened:",
        text_of(texts[0]),
        text_of(texts[1]),
        "Nothing is lost: BASE and your text are kept, whatever you choose.",
    )


def deleted_by_you(
    address: str, who: str, texts: tuple[bytes, bytes], *, keep: Then, trash: Then, version: str = "the version you saw"
) -> Case:
    """You deleted what they edited; `texts` are the version you saw and theirs."""
    return Case(
        "deleted",
        f"NOT DELETED {address}",
        (f"{who or 'Somebody'} changed it since it was listed, so it was not moved to the trash.",),
        {"keep_theirs": keep, "trash_theirs": trash},
        keep,
        f"what they changed in {version}:",
        text_of(texts[0]),
        text_of(texts[1]),
        "Nothing was changed. In the trash it can be brought back with u.",
    )


def renamed_by_them(
    parties: Parties, new: str, texts: tuple[bytes, bytes], *, follow: Then, keep_name: Then, later: Then
) -> Case:
    """They renamed what you edited; `texts` are BASE and YOURS."""
    return Case(
        "moved",
        f"RENAMED {parties.address}",
        (
            f"{parties.agent} renamed it while you had unsaved text in it.",
            f"old name  {parties.address}",
            f"new name  {new}",
        ),
        {"follow_name": follow, "keep_name": keep_name},
        later,
        "your change against BASE, the text you opened:",
        text_of(texts[0]),
        text_of(texts[1]),
    )


def only_line_ends(parties: Parties, yours: bytes, theirs: bytes, *, mine: Then, agent: Then, later: Then) -> Case:
    """Both texts are the same but for line ends, or a byte-order mark."""
    name = parties.agent_name
    return Case(
        "line_ends",
        f"ONLY LINE ENDS DIFFER {parties.address}",
        (
            f"{parties.agent} wrote the same text as you, with other line ends or another byte-order mark.",
            f"YOURS  {line_ends(yours)}",
            f"{name:<5}  {line_ends(theirs)}",
        ),
        {"ends_yours": mine, "ends_agent": agent},
        later,
    )


def not_saved(
    address: str,
    error: MemtuiError,
    place: str,
    *,
    again: Then,
    save_as: Callable[[str], None],
    copy: Then,
    later: Then,
) -> Case:
    """The disk, the root or a rule said no; `place` says where the text is kept."""
    words = [error.message, *(sentence for sentence in (error.unharmed, error.hint) if sentence), place]
    return Case(
        "unsaved",
        f"NOT SAVED {address}",
        tuple(words),
        {"try_again": again, "save_elsewhere": Asked("save it as", address, save_as), "copy_draft": copy},
        later,
        kept="The memory is as it was.",
    )


def line_ends(data: bytes) -> str:
    """Say which line ends a text has, and whether it begins with a byte-order mark."""
    pairs = data.count(b"\r\n")
    kinds = [
        f"{count:,} {name}"
        for name, count in (
            ("CRLF", pairs),
            ("LF", data.count(b"\n") - pairs),
            ("CR", data.count(b"\r") - pairs),
        )
        if count
    ]
    mark = ", byte-order mark" if data.startswith(b"\xef\xbb\xbf") else ""
    return (", ".join(kinds) or "no line end") + mark
