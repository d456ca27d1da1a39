"""Access to a server on this machine, checked by the headers of a request.

A server on the loopback address can be reached by every page the user visits, every other user of the machine, and
names an attacker points at 127.0.0.1. So the Host must be ours, a foreign Origin is refused, and a secret is required.
There is no cookie: a browser sends those to every port of a host.
"""

import hmac
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.errors import StorageError

if TYPE_CHECKING:
    from socket import socket


class Denied(NamedTuple):
    """Why a request is refused."""

    status: int
    """HTTP status: 400, 401, 403 or 421."""
    text: str
    """One sentence for the client; repeats nothing of the request."""


class Guard(NamedTuple):
    """The rules for requests to a server."""

    token: str
    """The secret, printable ASCII."""
    port: int | None
    """None: it listens on a file, which no page and no network name can reach; any Host is accepted."""
    pages: bool = True
    """Whether it serves pages of its own, which may then reach it; else no page may."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Accepted values of Host."""
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))

    @property
    def origins(self) -> tuple[str, ...]:
        """Pages that may open the websocket."""
        return tuple(f"http://{host}" for host in self.hosts)

    def knows(self, token: str) -> bool:
        """Compare a token in constant time."""
        return hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self.token.encode())

    def check(self, hosts: Sequence[str], headers: Mapping[str, str], *, websocket: bool) -> Denied | None:
        """Return why a request with these Host and other headers is refused; a `websocket` must have an Origin."""
        if len(hosts) != 1:
            return Denied(400, "A request names its host once.")
        if self.port is not None and hosts[0].lower() not in self.hosts:
            return Denied(421, "This server answers to its loopback name only.")
        origin = headers.get("Origin")
        if origin is None and websocket:
            return Denied(403, "A websocket is opened by its own page only.")
        if origin is not None and not (self.pages and origin.lower() in self.origins):
            return Denied(403, "Another page may not reach this server.")
        site = headers.get("Sec-Fetch-Site", "none")
        if site != "none" and not (self.pages and (site == "same-origin" or _navigates(headers))):
            return Denied(403, "Another page may not reach this server.")
        return None


def _navigates(headers: Mapping[str, str]) -> bool:
    """Return whether the user followed a link: harmless, because loading the page changes nothing."""
    return headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"


def open_port(port: int) -> "socket":
    """Bind a port of 127.0.0.1, out of reach for other machines; 0 takes a free one. Raises `E_IO`."""
    import socket

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or "there is no such port"
        raise StorageError(
            f"Port {port} of this machine cannot be used: {why}.", hint="Choose another with --port."
        ) from error
    return listener
