"""The scopes that every address requires: one of them is enough, none stands for any key.

Written out here once more, independently of the routes: the canonical ones from the interface
specification's tables; an address of the facade requires the scopes of the same content there. What the
specification opens to any key, and catalogues of names, require no scope.
"""

LIST, READ, DETAIL = (f"cs2:matches:{action}" for action in ("list", "read", "detail"))
MARKETS, SETTLEMENTS, MAPS = "cs2:markets:read", "cs2:markets:settlements", "cs2:maps:read"
RECOVERY = "cs2:recovery:initiate"
_MATCH = "/cs2/v1/matches/{match_id}"
_FACADE = "/v1/sports/{locale}"

#: Addresses in the sport's own namespace or on the facade, whose keys need the sport.
CS2: dict[str, tuple[str, ...]] = {
    "/cs2/v1/matches": (LIST,),
    "/cs2/v1/matches.xml": (LIST,),
    _MATCH: (LIST, READ),
    f"{_MATCH}.xml": (LIST, READ),
    f"{_MATCH}/summary": (READ,),
    f"{_MATCH}/summary.xml": (READ,),
    f"{_MATCH}/markets": (MARKETS,),
    f"{_MATCH}/markets.xml": (MARKETS,),
    f"{_MATCH}/prices": (MARKETS,),
    f"{_MATCH}/stakes": (MARKETS,),
    f"{_MATCH}/probabilities": (MARKETS,),
    f"{_MATCH}/cashout": (MARKETS,),
    f"{_MATCH}/rounds": (DETAIL,),
    f"{_MATCH}/timeline": (DETAIL,),
    f"{_MATCH}/prematch": (DETAIL,),
    f"{_MATCH}/settlements": (SETTLEMENTS,),
    "/cs2/v1/settlements": (SETTLEMENTS,),
    "/cs2/v1/changes": (),
    "/cs2/v1/selfcheck": (MARKETS,),
    "/cs2/v1/claims": (SETTLEMENTS,),
    "/cs2/v1/claims/{claim_id}": (SETTLEMENTS,),
    "/cs2/v1/claims/{claim_id}/withdraw": (SETTLEMENTS,),
    "/cs2/v1/combinations": (MARKETS,),
    "/cs2/v1/combinations/{combination_id}": (MARKETS,),
    "/cs2/v1/markets/descriptions": (),
    "/cs2/v1/markets/descriptions.xml": (),
    "/cs2/v1/markets/pricing": (),
    "/cs2/v1/markets/suspension-reasons": (),
    "/cs2/v1/tournaments": ("cs2:tournaments:list",),
    "/cs2/v1/tournaments/{tournament_id}": ("cs2:tournaments:read",),
    "/cs2/v1/teams": ("cs2:teams:list",),
    "/cs2/v1/teams/{team_id}": ("cs2:teams:read",),
    "/cs2/v1/teams/{team_id}/extras": ("cs2:teams:read",),
    "/cs2/v1/teams/{team_id}/h2h/{opponent_id}": ("cs2:teams:read",),
    "/cs2/v1/players": ("cs2:players:list",),
    "/cs2/v1/players/{player_id}": ("cs2:players:read",),
    "/cs2/v1/maps": (MAPS,),
    "/cs2/v1/maps/pool": (MAPS,),
    "/cs2/v1/search": (),
    "/cs2/v1/recovery/initiate_request": (RECOVERY,),
    "/cs2/v1/recovery/{request_id}": (RECOVERY,),
    "/cs2/v1/replay": (RECOVERY,),
    "/cs2/v1/replay/matches": (RECOVERY,),
    "/cs2/v1/replay/events/{event_id}": (RECOVERY,),
    "/cs2/v1/replay/play": (RECOVERY,),
    "/cs2/v1/replay/stop": (RECOVERY,),
    "/cs2/v1/replay/clear": (RECOVERY,),
    "/v1/replay": (RECOVERY,),
    "/v1/replay/status": (RECOVERY,),
    "/v1/replay/events/{event_id}": (RECOVERY,),
    "/v1/replay/play": (RECOVERY,),
    "/v1/replay/stop": (RECOVERY,),
    "/v1/replay/clear": (RECOVERY,),
    f"{_FACADE}/sports": (),
    f"{_FACADE}/tournaments": ("cs2:tournaments:list",),
    f"{_FACADE}/sports/{{sport_id}}/tournaments": ("cs2:tournaments:list",),
    f"{_FACADE}/tournaments/{{tournament_id}}/info": ("cs2:tournaments:read",),
    f"{_FACADE}/competitors/{{competitor_id}}/profile": ("cs2:teams:read",),
    f"{_FACADE}/players/{{player_id}}/profile": ("cs2:players:read",),
    f"{_FACADE}/sport_events/{{event_id}}/summary": (READ,),
    f"{_FACADE}/sport_events/{{event_id}}/fixture": (LIST, READ),
    f"{_FACADE}/schedules/pre/schedule": (LIST,),
    f"{_FACADE}/schedules/live/schedule": (LIST,),
    f"{_FACADE}/schedules/{{day}}/schedule": (LIST,),
    f"{_FACADE}/fixtures/changes": (LIST,),
    "/v1/files": (MARKETS, SETTLEMENTS, DETAIL),
    "/v1/files/{file_name}": (MARKETS, SETTLEMENTS, DETAIL),
    **{f"/v1/ledger/{name}": (SETTLEMENTS,) for name in ("heads", "leaves", "inclusion", "consistency")},
    "/v1/descriptions/producers": (),
    "/v1/descriptions/{locale}/markets": (),
    "/v1/descriptions/{locale}/markets/{market_id}/variants/{variant}": (),
    "/v1/descriptions/{locale}/match_status": (),
    "/v1/descriptions/{locale}/void_reasons": (),
    "/v1/descriptions/void_reasons": (),
    "/v1/custombet/{event_id}/available_selections": (MARKETS,),
    "/v1/custombet/calculate": (MARKETS,),
    "/v1/custombet/calculate-filter": (MARKETS,),
    "/v1/descriptions/{locale}/betstop_reasons": (),
    "/v1/descriptions/betstop_reasons.xml": (),
    "/v1/descriptions/{locale}/betting_status": (),
    "/v1/descriptions/betting_status.xml": (),
    "/v1/probabilities/{event_id}": (MARKETS,),
    "/v1/probabilities/{event_id}/{market_id}": (MARKETS,),
    "/v1/probabilities/{event_id}/{market_id}/{specifiers}": (MARKETS,),
    "/v1/{product}/recovery/initiate_request": (RECOVERY,),
    "/v1/{product}/odds/events/{event_id}/initiate_request": (RECOVERY,),
    "/v1/{product}/stateful_messages/events/{event_id}/initiate_request": (RECOVERY,),
}
SOCCER: dict[str, tuple[str, ...]] = {
    "/soccer/v1/competitors": (),
    "/soccer/v1/competitors/{competitor_id}": (),
    "/soccer/v1/matches": (),
    "/soccer/v1/matches/{soccer_match_id}": (),
    "/soccer/v1/tournaments": (),
    "/soccer/v1/tournaments/{tournament_id}": (),
    "/soccer/v1/tournaments/{tournament_id}/standings": (),
}
#: Of these, what only tenants receive who receive probabilities.
PROBABILITIES = {f"{_MATCH}/probabilities", f"{_MATCH}/cashout"} | {
    f"/v1/probabilities/{{event_id}}{rest}" for rest in ("", "/{market_id}", "/{market_id}/{specifiers}")
}
#: For any key, whatever its sports.
_META = ("alive", "alive.xml", "whoami", "whoami.xml", "users/whoami", "health", "ready", "sports")
_ABOUT = ("schemas/{name}", "openapi.json", "asyncapi.json")
ANY: dict[str, tuple[str, ...]] = {f"/v1/{name}": () for name in (*_META, *_ABOUT)}
SPORTS: dict[str | None, dict[str, tuple[str, ...]]] = {"cs2": CS2, "soccer": SOCCER, None: ANY}
#: For nobody's key in particular: pages, a picture, the status of the service.
OPEN = {
    *("/v1/docs", "/v1/docs/pushed", "/v1/docs/console", "/categories/cs2.svg"),
    *("/v1/ledger/keys", "/.well-known/matchfeed-ledger-keys"),
}
OPEN |= {"/v1/status", "/v1/status/days"}
