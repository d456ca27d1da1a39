"""Real memories, from the archive named by MEMTUI_CORPUS, hold hardly a text that is taken for a secret."""

import tarfile

import pytest

from memtui.mask import secrets
from tests.corpus import ARCHIVE


@pytest.mark.skipif(ARCHIVE is None, reason="MEMTUI_CORPUS names no archive of memory files")
def test_hardly_anything_in_public_memories_is_taken_for_a_secret() -> None:
    assert ARCHIVE is not None
    with tarfile.open(ARCHIVE) as corpus:
        opened = [corpus.extractfile(member) for member in corpus if member.isfile()]
        texts = [file.read().decode("utf-8", "replace") for file in opened if file is not None]
    assert len(texts) > 300
    found = [(one.rule, text[max(0, one.start - 40) : one.end]) for text in texts for one in secrets(text)]
    assert len(found) <= 2, found
