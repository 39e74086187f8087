"""Tokens of links and sessions, and what is stored of them."""

from hypothesis import given
from hypothesis import strategies as st

from app.access.portal_tokens import Purpose, generate, is_well_formed, keyed_hash


def test_tokens_differ_and_have_one_form() -> None:
    made = {generate() for _ in range(100)}
    assert len(made) == 100
    assert all(is_well_formed(token) for token in made)


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_a_hash_depends_on_token_secret_and_purpose(text: str) -> None:
    """Whatever a browser sends can be hashed; no hash can stand for one of another purpose."""
    digests = [keyed_hash(text, purpose, "a secret") for purpose in Purpose]
    digests += [keyed_hash(text, purpose, "another") for purpose in Purpose]
    digests.append(keyed_hash(text + "x", Purpose.SESSION, "a secret"))
    assert len(set(digests)) == len(digests)
    assert {len(digest) for digest in digests} == {32}
    assert keyed_hash(text, Purpose.LINK, "a secret") == digests[0]


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_other_texts_are_no_tokens(text: str) -> None:
    assert not is_well_formed(text) or (len(text) == 43 and text.isascii())
    assert not is_well_formed(generate() + text[:1] + "\n")
