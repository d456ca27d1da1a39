"""Who wrote a memory since the user last looked: every writer in turn, not only the last one.

The ledger's row names who wrote the version that is there now; who shows that name alone beside "created" says that
the last editor made what another one did.
"""

from collections.abc import Iterable

from memtui.engine.model import Change, Version, is_person


def since_seen(change: Change, history: Iterable[Version]) -> list[Version]:
    """Give the versions of a change that the user has not seen, newest first.

    Args:
        change: what happened.
        history: the versions of its memory, newest first.
    """
    found: list[Version] = []
    for one in history:
        if one.sha256 == change.before or (change.before is None and found and one.operation == "deleted"):
            break  # what was deleted before is another memory's past
        found.append(one)
    return found


def writers(change: Change, history: Iterable[Version]) -> tuple[str, ...]:
    """Give the actors of a change, each once, the first to write first; people know what they did."""
    found = [one.actor for one in since_seen(change, history) if not is_person(one.actor)]
    if change.actor not in found:
        found.insert(0, change.actor)
    return tuple(dict.fromkeys(reversed(found)))


def in_words(actors: tuple[str, ...], kind: str) -> str:
    """Say who is behind a change.

    Args:
        actors: from `writers`, or named for people.
        kind: the change's; a deletion or a new name is the last one's alone.
    """
    if kind in ("deleted", "renamed") or len(actors) == 1:
        return actors[-1]
    more = len(actors) - 2
    return f"{actors[0]}, then {actors[-1]}" + (f" and {more} more" if more else "")
