"""Every answer about the season in both formats, with a tag by which it is known again."""

import httpx
from lxml import etree

from tests.integration.rest.season.conftest import Season
from tests.support.web import IssueKey

PATHS = (
    "tournaments",
    "tournaments/{tournament}",
    "teams",
    "teams/{team}",
    "teams/{team}/extras",
    "teams/{team}/h2h/{opponent}",
    "players",
    "maps",
    "maps/pool",
    "search?q=he",
    "settlements",
    "markets/descriptions",
    "matches/{match}/prematch",
)


def text(value: str | float) -> str:
    """A plain value of JSON as XML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


async def test_both_formats_have_the_same_content(
    season: Season, client: httpx.AsyncClient, issue: IssueKey
) -> None:
    match = season.series.match
    names = {"tournament": match.tournament_id, "team": match.home_id, "opponent": match.away_id}
    headers = {"X-API-Key": await issue("house", bundles=("cs2.operator",))}
    for path in PATHS:
        address = "/cs2/v1/" + path.format(match=match.id, **names)
        as_json = await client.get(address, headers=headers)
        as_xml = await client.get(address, headers=headers | {"Accept": "text/xml"})
        assert (as_json.status_code, as_xml.status_code) == (200, 200), path
        root = etree.fromstring(as_xml.content)
        data = as_json.json()["data"]
        if isinstance(data, list) and root.tag == "response":
            assert len(root.find("data")) == len(data) > 0, path
        elif root.tag == "response":
            scalars = {
                name: text(value) for name, value in data.items() if isinstance(value, (str, int, float))
            }
            assert dict(root.find("data").attrib) == scalars, path
        else:
            assert len(root) > 0, "an envelope of the feed's style, with what was requested in it"
        for answer in (as_json, as_xml):
            known = headers | {
                "Accept": answer.headers["content-type"],
                "If-None-Match": answer.headers["etag"],
            }
            assert (await client.get(address, headers=known)).status_code == 304, path
