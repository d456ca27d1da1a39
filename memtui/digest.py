"""The sha-256 that names every version, without OpenSSL until there is enough to hash.

It exists because loading OpenSSL costs a one-shot command three milliseconds, in which Python's own code hashes a
megabyte; whoever hashes more than a little is better off with OpenSSL, which is five times quicker.
"""

import sys

try:
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]  # Python 3.12 and newer
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]  # Python 3.11
    except ImportError:
        from hashlib import sha256

ENOUGH = 524_288
"""Bytes, of the whole process, from which on loading OpenSSL pays."""

_left = ENOUGH
_hash = sha256


def sha256_hex(data: bytes) -> str:
    """Hash raw bytes with SHA-256, as 64 lower-case hex digits."""
    global _left, _hash
    if _left > 0:
        _left -= len(data)
        if _left <= 0 or "_hashlib" in sys.modules:
            import hashlib

            _left, _hash = 0, hashlib.sha256
    digest: str = _hash(data).hexdigest()
    return digest
