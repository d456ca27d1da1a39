"""HTTP POST over https with limits on time and size: the only module that sends anything off this machine.

A request that was not sent and one without a response are two errors, because only the first is always safe to repeat.
No redirect is followed, so that no credential goes to an address the settings do not name. Plain http is for loopback.
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
from memtui.features.delivery.vendors import PostRequest, PostResponse

CONNECT_TIMEOUT, TOTAL_TIMEOUT = 5.0, 30.0
MAX_RESPONSE = 65_536
"""Bytes of a response; a longer one counts as none."""


class NotSentError(Exception):
    """Nothing of the request left: no such name, no connection, an untrusted certificate."""


class NoAnswerError(Exception):
    """The request left, and its outcome is unknown."""


def post(request: PostRequest, *, timeout: float = TOTAL_TIMEOUT) -> PostResponse:
    """Send a request and read its response.

    Raises:
        NotSentError: nothing left. NoAnswerError: no whole response came in time. Both name the host, never the path.
    """
    try:
        parts = urlsplit(request.url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        raise NotSentError("its address is none") from None
    if parts.scheme != "https" and host not in LOOPBACK:
        raise NotSentError(f"{host} is not spoken to without https")
    connection = (
        http.client.HTTPSConnection(host, port, timeout=CONNECT_TIMEOUT, context=ssl.create_default_context())
        if parts.scheme == "https"
        else http.client.HTTPConnection(host, port, timeout=CONNECT_TIMEOUT)
    )
    timer = threading.Timer(timeout, _shut_down, (connection,))
    timer.daemon = True
    try:
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as error:
            raise NotSentError(f"{host}: {_reason(error)}") from None
        timer.start()
        connection.sock.settimeout(timeout)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            return _exchange(connection, path, request, time.monotonic() + timeout)
        except http.client.InvalidURL:
            raise NotSentError(f"{host}: its address is none") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NoAnswerError(f"{host}: {_reason(error)}") from None
    finally:
        timer.cancel()
        connection.close()


def _exchange(connection: http.client.HTTPConnection, path: str, request: PostRequest, end: float) -> PostResponse:
    connection.request("POST", path, request.body, {**request.headers, "connection": "close"})
    response = connection.getresponse()
    body = b""
    while piece := response.read1(MAX_RESPONSE):
        body += piece
        if len(body) > MAX_RESPONSE:
            raise NoAnswerError(f"{connection.host}: the answer is over {MAX_RESPONSE:,} bytes")
        if time.monotonic() > end:
            raise NoAnswerError(f"{connection.host}: the answer took too long")
    if response.length:
        raise NoAnswerError(f"{connection.host}: the answer was cut")
    return PostResponse(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


def _shut_down(connection: http.client.HTTPConnection) -> None:
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not trusted"
    if isinstance(error, TimeoutError):
        return "it took too long"
    # other messages may quote the address or a header, and so a secret
    return (error.strerror if isinstance(error, OSError) else "") or type(error).__name__
