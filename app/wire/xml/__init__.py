"""One builder per XML document: domain values in, bytes out.

`feed` builds the messages of the AMQP feed, live and replayed alike: a replay differs by `request_id` and
`timestamp` only. The resources of the facade are split by noun: `sport_events` (a match as fixture,
summary, part of a schedule), `entrants` (tournaments, teams, players), `dictionaries` (what clients read
once), `responses` (identity, acknowledgement, not found, and the moment of rendering that any of them may
carry); `match_state` is what feed and facade share about a match, `dialect` the table of what unmodified SDKs
of the same layout need otherwise.

The `.xml` siblings of the canonical paths have no shapes of their own:

    alive                 feed.alive                    whoami    responses.bookmaker_details
    matches list          sport_events.schedule         match     sport_events.fixtures_fixture
    match summary         sport_events.match_summary
    match markets         feed.odds_change              market descriptions   dictionaries.market_descriptions

The only package that imports `app.wire.generated`. Values are taken as valid; bytes depend on nothing but the
arguments, so that the same state has the same ETag.
"""
