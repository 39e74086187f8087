"""What holds for every path of the facade: whose it is, in which form it answers, what it refuses."""

from urllib.parse import quote

import httpx

from app.domain.match import Status
from app.settings import Settings
from tests.support.facade import LOCALES, PATHS, World, detail, document
from tests.support.web import Headers, IssueKey

LOCALISED = [path for path in PATHS if "{locale}" in path]
SINGLE = {
    "/v1/sports/{locale}/sports/{id}/tournaments": "sport_tournaments",
    "/v1/sports/{locale}/tournaments/{id}/info": "tournament_info",
    "/v1/sports/{locale}/competitors/{id}/profile": "competitor_profile",
    "/v1/sports/{locale}/players/{id}/profile": "player_profile",
    "/v1/sports/{locale}/sport_events/{id}/summary": "match_summary",
    "/v1/sports/{locale}/sport_events/{id}/fixture": "fixtures_fixture",
    "/v1/descriptions/{locale}/markets/{id}/variants/way:two": "market_descriptions",
    "/v1/custombet/{id}/available_selections": "available_selections",
    "/v1/probabilities/{id}": "cashout",
    "/v1/probabilities/{id}/1": "cashout",
    "/v1/probabilities/{id}/1/team=home": "cashout",
}
UNKNOWN = ("404404", "0", "-1", "x", "mf:competitor:", "od:match:404404", "9" * 40, "3.0", "%00", "١")


async def test_every_path_answers_xml_whatever_is_accepted(
    client: httpx.AsyncClient, basic: Headers, world: World
) -> None:
    accepts = ("", "*/*", "application/json", "application/xml", "text/html", "nonsense")
    for template, (root, _) in PATHS.items():
        seen = set()
        for accept in accepts:
            accepting = basic | ({"accept": accept} if accept else {})
            answer = await client.get(
                world.path(template), headers=accepting, params={"any": "thing", "product": "2"}
            )
            document(answer, root)
            seen.add(answer.headers["etag"])
        assert len(seen) == 1, template


async def test_every_path_has_a_head_and_a_304(
    client: httpx.AsyncClient, basic: Headers, world: World
) -> None:
    for template, (root, _) in PATHS.items():
        path = world.path(template)
        whole = await client.get(path, headers=basic)
        document(whole, root)
        head = await client.head(path, headers=basic)
        assert head.status_code == 200 and head.content == b""
        assert {head.headers[name] for name in ("etag", "content-type")} == {
            whole.headers[name] for name in ("etag", "content-type")
        }
        known = await client.get(path, headers=basic | {"if-none-match": whole.headers["etag"]})
        assert (known.status_code, known.content) == (304, b""), template


async def test_the_same_ids_and_codes_in_both_languages(
    client: httpx.AsyncClient, basic: Headers, world: World
) -> None:
    texts = {"name", "description", "generated_at"}
    for template in LOCALISED:
        root = PATHS[template][0]
        shown = []
        for locale in LOCALES:
            found = document(await client.get(world.path(template, locale), headers=basic), root)
            nodes = [(node.tag, {k: v for k, v in node.items() if k not in texts}) for node in found.iter()]
            shown.append(nodes)
            assert not [node.tag for node in found.iter() if node.get("name") == ""]
        assert shown[0] == shown[1], template


async def test_another_locale_is_400_and_a_missing_scope_is_checked_first(
    client: httpx.AsyncClient, basic: Headers, issue: IssueKey, world: World
) -> None:
    weak = {"x-access-token": await issue(scopes=("cs2:maps:read",))}
    for template in LOCALISED:
        for locale in ("de", "EN", "en-us", "xx"):
            path = world.path(template, locale)
            assert locale in detail(await client.get(path, headers=basic), 400)
            detail(await client.get(path), 401)
            if PATHS[template][1]:
                detail(await client.get(path, headers=weak), 403)


async def test_what_does_not_exist_is_the_root_of_its_resource_around_a_mark(
    client: httpx.AsyncClient, basic: Headers, world: World
) -> None:
    for template, root in SINGLE.items():
        for reference in UNKNOWN:
            for locale in LOCALES:
                path = template.format(locale=locale, id=reference)
                answer = await client.get(path, headers=basic)
                found = document(answer, root, 404)
                (mark,) = found
                assert (mark.tag, dict(mark.attrib)) == ("response", {"response_code": "NOT_FOUND"})
                assert len(mark) == 0


async def test_entities_are_found_by_number_and_by_urn_encoded_or_not(
    client: httpx.AsyncClient, basic: Headers, world: World
) -> None:
    for kind, number, root in (
        ("tournament", 5, "tournament_info"),
        ("competitor", 11, "competitor_profile"),
        ("player", 101, "player_profile"),
    ):
        (template,) = [path for path, (found, _) in PATHS.items() if found == root]
        path = template.replace("{" + kind + "}", "{id}")
        urns = (f"mf:{kind}:{number}", f"od:{kind}:{number}", f"sr:{kind}:{number}")
        for reference in (str(number), *urns, *map(quote, urns), f"mf%3a{kind}%3a{number}"):
            answer = await client.get(path.format(locale="en", id=reference), headers=basic)
            assert document(answer, root)[0].get("id") == f"mf:{kind}:{number}", reference
        for other in ({"match", "tournament", "player"} - {kind}) | {"sport", "thing", "y"}:
            for prefix in ("mf", "x"):  # whatever its prefix, a URN of something else names nothing here
                wrong = path.format(locale="en", id=f"{prefix}:{other}:{number}")
                document(await client.get(wrong, headers=basic), root, 404)


async def test_events_are_found_by_urn_and_by_uuid(
    client: httpx.AsyncClient, basic: Headers, world: World
) -> None:
    match = world.matches[Status.LIVE]
    urn = f"od:match:{match.number}"
    for kind in ("summary", "fixture"):
        for reference in (urn, quote(urn), str(match.id), str(match.id).upper()):
            path = f"/v1/sports/en/sport_events/{reference}/{kind}"
            answer = await client.get(path, headers=basic)
            root = "match_summary" if kind == "summary" else "fixtures_fixture"
            assert document(answer, root)[0].get("id") == urn


async def test_empty_collections_are_containers(client: httpx.AsyncClient, basic: Headers) -> None:
    for template, (root, _) in PATHS.items():
        if root in ("tournaments", "schedule", "fixture_changes"):
            found = document(await client.get(template.format(locale="en"), headers=basic), root)
            assert len(found) == 0
    listed = await client.get("/v1/sports/en/sports/3/tournaments", headers=basic)
    assert len(document(listed, "sport_tournaments").find("tournaments")) == 0


async def test_the_picture_of_the_category(
    client: httpx.AsyncClient, basic: Headers, settings: Settings
) -> None:
    (sport,) = document(await client.get("/v1/sports/en/sports", headers=basic), "sports")
    assert sport.get("id") == "3"
    address = sport.get("icon_path")
    assert address == f"{settings.public_url}/categories/cs2.svg"
    answer = await client.get(address.removeprefix(settings.public_url))
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.status_code == 200 and answer.content.startswith(b"<svg")
