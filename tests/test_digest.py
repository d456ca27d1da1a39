"""The digest is SHA-256, whichever code works it out, and a command that hashes little loads no OpenSSL."""

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui import digest

OWN = "import sys; from memtui.digest import sha256_hex, ENOUGH; print(sha256_hex(b'abc'), '_hashlib' in sys.modules)"
MORE = "; sha256_hex(bytes(ENOUGH)); print(sha256_hex(b'abc'), '_hashlib' in sys.modules)"
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@given(st.binary(max_size=300))
def test_it_is_sha_256(data: bytes) -> None:
    assert digest.sha256_hex(data) == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(("code", "loaded"), [(OWN, ["False"]), (OWN + MORE, ["False", "True"])])
def test_openssl_is_loaded_when_it_pays(code: str, loaded: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [word for each in loaded for word in (ABC, each)]
