"""Trees as RFC 9162 defines them, with the vectors of Certificate Transparency's own tests."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.ledger_tree import consistency_path, day_after, inclusion_path, leaf_hash, root

LEAVES = ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
HASHES = [leaf_hash(bytes.fromhex(each)) for each in LEAVES]
ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


def by_definition(hashes: list[bytes]) -> bytes:
    """RFC 9162, 2.1.1."""
    if len(hashes) < 2:
        return hashes[0] if hashes else sha256(b"").digest()
    k = 1
    while 2 * k < len(hashes):
        k *= 2
    return sha256(b"\x01" + by_definition(hashes[:k]) + by_definition(hashes[k:])).digest()


@pytest.mark.parametrize("size", range(9))
def test_roots(size: int) -> None:
    assert root(HASHES[:size]).hex() == ROOTS[size]


def test_paths() -> None:
    assert [one.hex()[:8] for one in inclusion_path(HASHES, 5)] == ["bc1a0643", "ca854ea1", "d37ee418"]
    assert [one.hex()[:8] for one in consistency_path(HASHES, 6)] == ["0ebc5d34", "ca854ea1", "d37ee418"]
    assert consistency_path(HASHES, 0) == consistency_path(HASHES, 8) == []


@given(st.integers(0, 70))
def test_levels_are_the_tree_of_the_definition(size: int) -> None:
    hashes = [leaf_hash(bytes([each])) for each in range(size)]
    assert root(hashes) == by_definition(hashes)


def test_the_next_day() -> None:
    assert [day_after(each) for each in ("2031-04-02", "2031-12-31", "2032-02-28")] == [
        *("2031-04-03", "2032-01-01", "2032-02-29")
    ]
