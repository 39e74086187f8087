"""Tokens of links and sessions, and what is stored of them."""

from hypothesis import given
from hypothesis import strategies as st

from app.access.credentials import Purpose, is_token, new_token, token_hash


def test_tokens_differ_and_have_one_form() -> None:
    made = {new_token() for _ in range(100)}
    assert len(made) == 100
    assert all(is_token(token) for token in made)


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_a_hash_depends_on_token_secret_and_purpose(text: str) -> None:
    """Whatever a browser sends can be hashed; no hash can stand for one of another purpose."""
    digests = [token_hash(text, purpose, "a secret") for purpose in Purpose]
    digests += [token_hash(text, purpose, "another") for purpose in Purpose]
    digests.append(token_hash(text + "x", Purpose.SESSION, "a secret"))
    assert len(set(digests)) == len(digests)
    assert {len(digest) for digest in digests} == {32}
    assert token_hash(text, Purpose.LINK, "a secret") == digests[0]


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_other_texts_are_no_tokens(text: str) -> None:
    assert not is_token(text) or (len(text) == 43 and text.isascii())
    assert not is_token(new_token() + text[:1] + "\n")
