"""The program in the bookmaker's walk stores the complete book on disk."""

import re
import runpy
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "walks" / "bookmaker.md"
TOLD = [
    (b'<odds_change event_id="od:match:7" timestamp="%d"><odds>'
     b'<market id="13" specifiers="map=1|round=3|team=home" status="1"><outcome id="1" odds="1.85"/></market>'
     b'<market id="10" specifiers="map=1" status="-1"><outcome id="1" odds="8.5"/></market>'
     b"</odds></odds_change>", 5, 0),
    (b'<bet_settlement event_id="od:match:7" timestamp="%d"><outcomes>'
     b'<market id="13" specifiers="map=1|round=3|team=home"><outcome id="1" result="1"/></market>'
     b"</outcomes></bet_settlement>", 9, 5),
]  # fmt: skip


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The page's Python, read as a module."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    path = tmp_path / "mybook.py"
    path.write_text(found[1])
    monkeypatch.syspath_prepend(str(PAGE.parents[2] / "scripts"))
    return runpy.run_path(str(path))


def test_a_book_read_from_disk_is_the_book_that_was_written(
    program: dict[str, object], tmp_path: Path
) -> None:
    stored_book, path = program["StoredBook"], tmp_path / "book.json"
    assert callable(stored_book)
    before = stored_book(path)
    for at, (body, seq, prev) in enumerate(TOLD, start=1_800_000_000_000):
        before.receive(body % at, seq, prev)
    after = stored_book(path)
    assert (after.offers, after.seqs, after.full, after.after) == (
        before.offers, before.seqs, before.full, before.after,
    )  # fmt: skip
    assert after.digest() == before.digest()
    assert after.digest()["matches"] == [{"match": "od:match:7", "seq": 9, "markets": [[10, "map=1", -1]]}]


def test_nothing_is_written_in_the_middle_of_a_recovery(program: dict[str, object], tmp_path: Path) -> None:
    stored_book, path = program["StoredBook"], tmp_path / "book.json"
    assert callable(stored_book)
    book = stored_book(path)
    book.request = "77"
    body, seq, prev = TOLD[0]
    book.receive(body % 1, seq, prev)
    assert not path.exists()
    book.receive(b'<snapshot_complete request_id="77" timestamp="2"/>')
    assert stored_book(path).digest() == book.digest() != {"matches": []}
