"""Trigrams of names: maintained by the database, cut alike there and in queries."""

from app.domain.entrants import Competitor, Player
from app.store import entrants, search
from app.store.connections import Store
from app.store.entrants import PLAYERS, TEAMS, folded

NAMES = (
    *("A", "ab", "Northwind", "north  WIND", "Größe ẞ", "Северный Ветер", "🦊🦊🦊", "e\u0301clair"),
    *("100%", "__init__", "it's", '"', "\\x", "aaaaaaa", "x" * 300, "İstanbul", "ﬁne"),
)


async def test_the_query_is_cut_as_the_names_are(store: Store) -> None:
    async with store.autocommit() as tx:
        for name in map(folded, NAMES):
            rows = await tx.fetch("SELECT trigram FROM trigrams_of($1) AS trigram", name[:200])
            assert sorted(row["trigram"] for row in rows) == search.trigrams(name[:200])[0]


async def test_every_name_finds_itself(store: Store) -> None:
    async with store.transaction() as tx:
        await entrants.put(tx, TEAMS, [Competitor(n, name) for n, name in enumerate(NAMES, start=1)])
        for number, name in enumerate(NAMES, start=1):
            found = await search.named(tx, TEAMS, name[:100], limit=50, finished_only=False)
            scores = {team.id: score for team, score in found}
            if len(folded(name)) < search.MIN_QUERY_LENGTH:
                assert found == []
            elif len(name) > 100:
                assert 0.9 <= scores[number] < 1
            else:
                assert [team for team, score in scores.items() if score == 1] == [number]


async def test_trigrams_follow_the_table(store: Store) -> None:
    async def stored() -> list[tuple[object, ...]]:
        rows = await tx.fetch(
            "SELECT entrant_table, trigram, id, trigrams FROM name_trigram ORDER BY 1, 3, 2"
        )
        return [tuple(row.values()) for row in rows]

    async with store.transaction() as tx:
        await entrants.put(tx, TEAMS, [Competitor(1, "Northwind"), Competitor(2, "Harbour")])
        await entrants.put(tx, PLAYERS, [Player(1, "quill")])
        before = await stored()
        await entrants.put(tx, TEAMS, [Competitor(1, "NORTHWIND", region="EU")])
        assert await stored() == before
        await entrants.put(tx, TEAMS, [Competitor(1, "Southwind")])
        await tx.execute("DELETE FROM team WHERE id = 2")
        await tx.execute("DELETE FROM player")
        rows = await stored()
    assert {(row[0], row[2], row[3]) for row in rows} == {("team", 1, len("southwind") + 1)}
