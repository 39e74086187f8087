"""Names of daily files, days, and which tenants share a file."""

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from app.domain.daily_files import (
    FileFormat,
    FileKind,
    FileName,
    Seqs,
    begin_of,
    last_complete_day,
    parse_name,
    variant_of,
)
from app.domain.profiles import Profile, ProfileChange
from app.domain.tenant import Tenant
from app.domain.tenant_offer import TenantOffer
from app.domain.trading_controls import MarginControl
from app.domain.types_off import TypeOff

TENANT = Tenant(UUID(int=1), "acme", "Acme")
PROFILES = [Profile(name, 1, (MarginControl(0.05),)) for name in ("tight", "wide")]
_LAST = 30


@st.composite
def offers(draw: st.DrawFn) -> TenantOffer:
    """What was changed for a tenant up to the change `_LAST`: types off and on, and profiles."""
    off = []
    for type_id in (1, 13):
        places = sorted(draw(st.sets(st.integers(1, _LAST), max_size=5)))
        for at in range(0, len(places), 2):
            begin, end = places[at], (places[at + 1 : at + 2] or [None])[0]
            off.append(TypeOff(type_id, begin * 10, begin, None if end is None else end * 10, end))
    given_at = sorted(draw(st.sets(st.integers(1, _LAST), max_size=4)))
    profiles = [ProfileChange(at, at * 10, draw(st.sampled_from([None, *PROFILES]))) for at in given_at]
    return TenantOffer(tuple(sorted(off, key=lambda one: one.off_seq)), tuple(profiles))


@given(offers(), st.integers(1, _LAST), st.integers(0, _LAST))
def test_an_offer_within_some_changes_is_the_same_for_each_of_them(
    offer: TenantOffer, first: int, more: int
) -> None:
    last = first + more
    within = offer.within(first, last)
    for seq in range(first, last + 1):
        assert within.at(seq) == offer.at(seq), seq


@given(offers(), offers(), st.integers(1, _LAST), st.integers(0, _LAST))
def test_tenants_share_a_file_only_if_every_change_looks_the_same_to_them(
    one: TenantOffer, other: TenantOffer, first: int, more: int
) -> None:
    seqs = Seqs(first, first + more)
    tenants = [replace(TENANT, types_off=each.types_off, profiles=each.profiles) for each in (one, other)]
    digests = [variant_of(FileKind.PRICES, each, seqs, finished_only=False).digest for each in tenants]
    if digests[0] == digests[1]:
        assert all(one.at(seq) == other.at(seq) for seq in range(seqs.first, seqs.last + 1))


def test_what_was_over_before_the_day_and_what_came_after_it_make_no_file_of_its_own() -> None:
    before, after = TypeOff(13, 10, 1, 20, 2), TypeOff(13, 90, 9)
    changed = replace(TENANT, types_off=(before, after), profiles=(ProfileChange(9, 90, PROFILES[0]),))
    one, other = (
        variant_of(FileKind.PRICES, each, Seqs(3, 8), finished_only=False) for each in (TENANT, changed)
    )
    assert one.digest == other.digest


@pytest.mark.parametrize("kind", FileKind)
def test_what_a_kind_does_not_depend_on_makes_no_file_of_its_own(kind: FileKind) -> None:
    special = replace(TENANT, probabilities=True, profiles=(ProfileChange(1, 1, PROFILES[0]),))
    seqs = Seqs(5, 9)
    one, other = (variant_of(kind, each, seqs, finished_only=False).digest for each in (TENANT, special))
    assert (one == other) is (kind is not FileKind.PRICES)
    limited = variant_of(kind, TENANT, seqs, finished_only=True).digest
    assert limited != one


@given(st.sampled_from(FileKind), st.dates(date(2000, 1, 1)), st.sampled_from(FileFormat))
def test_a_name_is_read_as_it_is_written(kind: FileKind, day: date, form: FileFormat) -> None:
    name = FileName(kind, day, form)
    assert parse_name(str(name)) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "prices",
        "prices-2031-04-02",
        "prices-2031-13-02.parquet",
        "prices-2031-04-02.parquet\n",
        "x-2031-04-02.csv.gz",
        "prices-2031-04-02xcsv.gz",
        "prices-٢٠٣١-04-02.parquet",
    ],
)
def test_other_names_are_none(text: str) -> None:
    assert parse_name(text) is None


def test_a_day_is_complete_a_quarter_of_an_hour_after_its_end() -> None:
    midnight = datetime(2031, 4, 3, tzinfo=UTC)
    begin = int(midnight.timestamp()) * 1000
    assert begin_of(date(2031, 4, 3)) == begin
    quarter = timedelta(minutes=15) // timedelta(milliseconds=1)
    assert last_complete_day(begin + quarter) == date(2031, 4, 2)
    assert last_complete_day(begin + quarter - 1) == date(2031, 4, 1)
