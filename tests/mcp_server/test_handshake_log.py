"""Standard error tells what failed, and nothing a memory says."""

import logging

from memtui.mcp_server.handshake import PlainFormatter

SECRET = "the text of a memory"


def said(name: str, message: str, *arguments: object, fault: BaseException | None = None) -> str:
    info = (type(fault), fault, None) if fault else None
    return PlainFormatter().format(logging.LogRecord(name, logging.ERROR, "", 0, message, arguments, info))


def test_a_library_s_arguments_and_exceptions_are_left_out() -> None:
    line = said("mcp.server", "handler for %r raised", SECRET, fault=ValueError(SECRET))
    assert line == "memtui mcp: error: mcp.server: handler for %r raised (ValueError)"


def test_our_own_words_are_said_whole_on_one_safe_line() -> None:
    assert said("memtui.mcp_server.x", "%s\x1b[2J\n", 7).endswith("7␛[2J␊")
