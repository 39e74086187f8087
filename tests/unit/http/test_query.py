import pytest

from app.http.query import refuse_unknown
from app.kit.errors import Invalid


def test_known_parameters_pass() -> None:
    refuse_unknown(b"limit=1&limit=2&status=", ("limit", "status"))


def test_every_unknown_parameter_is_named() -> None:
    with pytest.raises(Invalid) as refused:
        refuse_unknown(b"limit=1&Limit=2&x%79=%ff", ("limit",))
    assert [field.loc for field in refused.value.fields] == [("query", "Limit"), ("query", "xy")]
