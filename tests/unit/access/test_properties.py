import pytest

from app.access.api_keys import KeyAlteration, KeyProperties, validate_alteration, validate_properties
from app.domain import scopes
from app.kit.errors import Invalid


@pytest.mark.parametrize("bundle", sorted(scopes.BUNDLES))
def test_a_bundle_becomes_its_scopes(bundle: str) -> None:
    fields = validate_properties(KeyProperties(bundles=(bundle,)))
    assert fields["scopes"] == scopes.BUNDLES[bundle]
    assert fields["finished_only"] == (bundle == "cs2.scoretock")
    assert fields["operator"] == (bundle == "cs2.operator")
    assert "bundles" not in fields


def test_bundles_and_raw_scopes_add_up() -> None:
    fields = validate_properties(KeyProperties(bundles=("cs2.stats",), scopes=(scopes.SCOREBOARD,)))
    assert fields["scopes"] == scopes.BUNDLES["cs2.stats"] | {scopes.SCOREBOARD}


def test_raw_scopes_may_be_finished_only_too() -> None:
    fields = validate_properties(KeyProperties(scopes=(scopes.LIST,), finished_only=True))
    assert fields["finished_only"]
    assert fields["scopes"] == {scopes.LIST}


@pytest.mark.parametrize(
    ("properties", "where"),
    [
        (KeyProperties(bundles=("cs2.everything",)), {("bundles", 0)}),
        (KeyProperties(scopes=(scopes.LIST, "cs2:matches:fly")), {("scopes", 1)}),
        (KeyProperties(scopes=(scopes.LIST,), sports=("dota2",)), {("sports", 0)}),
        (KeyProperties(scopes=(scopes.LIST,), rate_limit_rpm=0), {("rate_limit_rpm",)}),
        (KeyProperties(scopes=(scopes.LIST,), networks=("10.0.0.1", "10.0.0.1/8")), {("networks", 1)}),
        (KeyProperties(bundles=("cs2.scoretock", "cs2.odds.basic")), {("bundles",)}),
        (KeyProperties(bundles=("cs2.scoretock",), scopes=(scopes.MARKETS,)), {("bundles",)}),
        (KeyProperties(), {("scopes",)}),
        (
            KeyProperties(scopes=("x",), sports=("y",), rate_limit_rpm=-1),
            {("scopes", 0), ("sports", 0), ("rate_limit_rpm",)},
        ),
    ],
)
def test_every_field_that_does_not_fit_is_named(
    properties: KeyProperties, where: set[tuple[str | int, ...]]
) -> None:
    with pytest.raises(Invalid) as refusal:
        validate_properties(properties)
    assert {field.loc for field in refusal.value.fields} == where


def test_an_alteration_changes_what_it_names() -> None:
    assert validate_alteration(KeyAlteration()) == {}
    assert validate_alteration(KeyAlteration(networks=(), sports=("soccer",))) == {
        "networks": (),
        "sports": frozenset({"soccer"}),
    }
    with pytest.raises(Invalid):
        validate_alteration(KeyAlteration(rate_limit_rpm=0))
