"""Muting findings: only a person does it, with a reason, and a mute ends with the lines it is about.

It is apart so that only what looks through texts loads it. What is kept of a line is a hash with a key of this ledger,
because a bare hash of a short secret can be guessed.
"""

import hmac
from collections.abc import Iterable, Mapping
from functools import cached_property

from memtui.engine.ledger.mutes import Mute
from memtui.engine.model import Address
from memtui.engine.part import EnginePart, retry_after_repair
from memtui.errors import NotFoundError, UsageError


class Mutes(EnginePart):
    """What nobody wants to be told of again."""

    @cached_property
    def _key(self) -> bytes:
        return self._ledger.proposals.key()

    def name(self, address: Address, rule: str, lines: bytes = b"") -> str:
        """Name a finding, in 20 hex digits.

        Args:
            address: the memory; with an empty path, all of a root.
            rule: what found it.
            lines: what it is about; the name is another one when they change.
        """
        told = "\0".join(("mute", address.root, address.path, rule, "")).encode("utf-8", "surrogateescape")
        return hmac.digest(self._key, told + lines, "sha256")[:10].hex()

    def all(self) -> Mapping[str, Mute]:
        """Every mute, by the name of what it is about."""
        return self._ledger.mutes.all()

    @retry_after_repair
    def mute(self, findings: Iterable[tuple[Address, str, str]], *, reason: str) -> None:
        """Tell nobody of findings any more.

        Args:
            findings: for each the memory (with an empty path: all of the root), the rule, and the name.
            reason: why.

        Raises:
            RefusedError: `E_PERSON`: an agent runs this process; `E_READ_ONLY`. UsageError: there is no reason.
        """
        self._rules.approver.require("mute a finding")
        self._rules.refuse_read_only()
        if not reason.strip():
            raise UsageError("A mute needs a reason.", hint="Say why it is no harm.")
        with self._ledger.transaction():
            for address, rule, name in findings:
                uid = self._roots.uid(self._roots.find(address.root))
                self._ledger.mutes.put(name, uid, address.path, rule, reason.strip())
                said = f"{rule}: {reason.strip()}"
                self._ledger.audit.approve("muted", [(uid, address.path, None)], self._rules.approver, said=said)

    @retry_after_repair
    def unmute(self, name: str) -> None:
        """Tell of it again; raises `NotFoundError` where nothing of that name is muted, and as `mute` does."""
        self._rules.refuse_read_only()
        if not self._ledger.mutes.remove(name):
            raise NotFoundError(f"Nothing that is called {name} is muted.", hint="`memtui check --muted` lists them.")
