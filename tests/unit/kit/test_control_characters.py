"""Control characters are found, and nothing else is."""

from unicodedata import bidirectional, category

from hypothesis import given
from hypothesis import strategies as st

from app.kit.control_characters import has_control_characters, strip_control_characters

_WHITE_SPACE = "\t\n\r"
_DIRECTION_MARKS = "\u061c\u200e\u200f"
_OVERRIDES = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}


def is_control(character: str) -> bool:
    if character in _WHITE_SPACE:
        return False
    turns = character in _DIRECTION_MARKS or bidirectional(character) in _OVERRIDES
    return category(character) == "Cc" or turns


@given(
    st.text(
        st.one_of(st.characters(), st.characters(max_codepoint=0x7F), st.characters(categories=["Cc", "Cf"]))
    )
)
def test_exactly_these_are_stripped(text: str) -> None:
    assert strip_control_characters(text) == "".join(each for each in text if not is_control(each))
    assert has_control_characters(text) == any(map(is_control, text))


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_ascii_is_stripped_like_the_rest(text: str) -> None:
    assert strip_control_characters(text) == strip_control_characters(text + "é")[:-1]
