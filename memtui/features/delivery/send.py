"""The one place that sends something off this machine: a POST over https, with bounds on all that comes back.

What was not sent and what was sent without an answer are two errors, because only the first may always be repeated. No
redirect is followed, so that no credential goes to a place the settings do not name. A plain http address is one of
this machine itself.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from contextlib import suppress
from urllib.parse import urlsplit

from memtui.config.named_check import LOOPBACK
from memtui.features.delivery.message import PostAnswer, Posting

CONNECT_S, WHOLE_S = 5.0, 30.0
ANSWER = 65_536
"""Bytes of an answer that are read; more is no answer."""


class NotSentError(Exception):
    """Nothing of the request left: no such name, no connection, a certificate that is not trusted."""


class NoAnswerError(Exception):
    """The request left, and what became of it is not known."""


def post(posting: Posting, *, whole: float = WHOLE_S) -> PostAnswer:
    """Send a request and read its answer.

    Raises:
        NotSentError: nothing left. NoAnswerError: it left, and no whole answer came in time. Both say why, up to the
            host of the address.
    """
    try:
        parts = urlsplit(posting.url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        raise NotSentError("its address is none") from None
    if parts.scheme != "https" and host not in LOOPBACK:
        raise NotSentError(f"{host} is not spoken to without https")
    connection = (
        http.client.HTTPSConnection(host, port, timeout=CONNECT_S, context=ssl.create_default_context())
        if parts.scheme == "https"
        else http.client.HTTPConnection(host, port, timeout=CONNECT_S)
    )
    end = threading.Timer(whole, _cut, (connection,))
    end.daemon = True
    try:
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as error:
            raise NotSentError(f"{host}: {_why(error)}") from None
        end.start()
        connection.sock.settimeout(whole)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            return _talk(connection, path, posting, time.monotonic() + whole)
        except http.client.InvalidURL:
            raise NotSentError(f"{host}: its address is none") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NoAnswerError(f"{host}: {_why(error)}") from None
    finally:
        end.cancel()
        connection.close()


def _talk(connection: http.client.HTTPConnection, path: str, posting: Posting, end: float) -> PostAnswer:
    connection.request("POST", path, posting.body, {**posting.headers, "connection": "close"})
    answer = connection.getresponse()
    body = b""
    while piece := answer.read1(ANSWER):
        body += piece
        if len(body) > ANSWER:
            raise NoAnswerError(f"{connection.host}: the answer is over {ANSWER:,} bytes")
        if time.monotonic() > end:
            raise NoAnswerError(f"{connection.host}: the answer took too long")
    if answer.length:
        raise NoAnswerError(f"{connection.host}: the answer was cut")
    return PostAnswer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body)


def _cut(connection: http.client.HTTPConnection) -> None:
    """End a request that takes too long, whatever it waits for."""
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not trusted"
    if isinstance(error, TimeoutError):
        return "it took too long"
    # what other errors say may quote the address or a header, and so a secret
    return (error.strerror if isinstance(error, OSError) else "") or type(error).__name__
