"""Who may speak to the server; apart from it, so that every refusal can be tested on one request's headers alone.

A server on the loopback address is reachable by every page the user visits, by every other user of the machine, and
by names that an attacker points at 127.0.0.1. So the Host must be ours, a foreign Origin is refused, and the websocket
is at a path that holds the secret of this run. There is no cookie: a browser sends those to every port of a host.
"""

import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

CODE_SECONDS = 60
"""How long the code of a file that opens a browser can be used."""


class Denied(NamedTuple):
    """Why a request is not answered."""

    status: int
    """400, 401, 403 or 421, as HTTP has them."""
    text: str
    """One sentence for whoever looks at the answer; repeats nothing of the request."""


class Guard(NamedTuple):
    """What this server expects of a request."""

    token: str
    """The secret of this run, printable ASCII."""
    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        """The values of Host that are this server."""
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))

    @property
    def origins(self) -> tuple[str, ...]:
        """The pages that may open the websocket."""
        return tuple(f"http://{host}" for host in self.hosts)

    def knows(self, token: str) -> bool:
        """Whether a token is the right one; takes as long for any wrong one."""
        return hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self.token.encode())

    def check(self, hosts: Sequence[str], headers: Mapping[str, str], *, websocket: bool) -> Denied | None:
        """Check where a request comes from and whom it means.

        Args:
            hosts: every Host header of the request.
            headers: the other headers.
            websocket: whether it wants to drive the workbench: then an Origin must be there.

        Returns:
            Why it is refused; None when it may go on.
        """
        if len(hosts) != 1:
            return Denied(400, "A request names its host once.")
        if hosts[0].lower() not in self.hosts:
            return Denied(421, "This server answers to its loopback name only.")
        origin = headers.get("Origin")
        if origin is None and websocket:
            return Denied(403, "The workbench is driven from its own page only.")
        if origin is not None and origin.lower() not in self.origins:
            return Denied(403, "Another page may not reach the workbench.")
        if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and not _navigates(headers):
            return Denied(403, "Another page may not reach the workbench.")
        return None


class Codes:
    """Codes that stand for the token once, so that what is handed to a browser is worth nothing afterwards."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Take a clock in seconds that only goes forward."""
        self._clock = clock
        self._until: dict[str, float] = {}

    def issue(self) -> str:
        """Make a code."""
        code = secrets.token_urlsafe(32)
        self._until[code] = self._clock() + CODE_SECONDS
        return code

    def redeem(self, code: str) -> bool:
        """Whether a code was issued in the last `CODE_SECONDS` and not redeemed before."""
        return self._until.pop(code, 0.0) > self._clock()


def _navigates(headers: Mapping[str, str]) -> bool:
    """Whether the user followed a link: harmless, because nothing is changed by loading the page."""
    return headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"
