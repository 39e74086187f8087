"""docs/ledger-example, and what docs/ledger.md says of it."""

import re
from hashlib import sha256

from app.domain.ledger_tree import consistency_path, inclusion_path, root
from scripts.verifier.verify_ledger import verify
from tests.support.ledgers import EXAMPLE, example, parsed


def test_the_example_of_the_page_is_current() -> None:
    """Whoever has written a verifier by it relies on these bytes: they may not change."""
    made = example().answers()
    assert {path.name: path.read_bytes() for path in EXAMPLE.iterdir()} == made
    assert verify(EXAMPLE, "", []) == "no fault: 7 heads, 10 leaves, 9 of them shown"


def test_the_page_has_the_hashes_of_the_example() -> None:
    made, page = example(), (EXAMPLE.parent / "ledger.md").read_text()
    section = page.partition("## Example")[2].partition("Trees alone")[0]
    written = set(re.findall(r"`([0-9a-f]{64})`", section))
    hashes = [bytes.fromhex(row["hash"]) for row in made.leaves if row["day"] == "2031-04-02"]
    known = {row["hash"] for row in (*made.heads, *made.leaves)}
    known |= {root(hashes[:size]).hex() for size in range(1, 9)} | {root(hashes[2:4]).hex()}
    known |= {parsed(made.leaves[1], "leaf")["prices"]["digest"]}
    rows = b"7 1932858001007 active 1850\n8 1932858001008 active 1900\n"
    assert written <= known | {sha256(rows).hexdigest()}
    assert len(written) == 11
    assert inclusion_path(hashes[:5], 1) == [hashes[0], root(hashes[2:4]), hashes[4]]
    assert inclusion_path(hashes[:5], 4) == [root(hashes[:4])]
    assert consistency_path(hashes[:5], 2) == [root(hashes[2:4]), hashes[4]]


def test_the_prices_of_the_example_have_the_digests_of_its_leaves() -> None:
    made = example()
    for row in made.leaves:
        if "price_salt" not in row:
            continue
        leaf = parsed(row, "leaf")
        prices = leaf["prices"]
        lines = [
            f"{each['seq']} {each['timestamp']} {each['status']} {round(each.get('odds', 0) * 1000)}\n"
            for each in made.prices
            if each["market_offer_id"] == leaf["market_offer_id"]
            and prices["first_seq"] <= each["seq"] < leaf["id"]
        ]
        inner = sha256("".join(lines).encode()).digest()
        assert len(lines) == prices["count"]
        assert sha256(bytes.fromhex(row["price_salt"]) + inner).hexdigest() == prices["digest"]
