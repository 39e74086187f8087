"""What is offered on a match, at which price, and how it settles. Pure: no clock, no I/O.

`engine.react` compares what the state of a match demands with the book as it is, and returns the
difference: changed markets and ledger entries. It has no memory of its own, so that reacting twice
to the same state changes nothing.

    specifiers         a market's specifiers, typed, and their canonical text
    match_facts        what a settlement may rest on: counted rounds, map ends, events of known rounds
    match_phase        what decides which markets may be on offer: the map and the rounds of the moment
    model              how likely home wins a round; every other price follows from it
    kill_model         one round, kill by kill
    round_state        what is known of a round when it is priced
    round_features     the numbers that the round model looks at
    round_view         a match's current round as the round model sees it
    round_clock        what the clock alone decides in a round
    round_limits       what the last seconds of clock and fuse leave possible
    round_model        CT's chance of a round, before it and in play
    round_endings      how a round ends
    round_outlook      what the current round decides of its map
    map_outlook        how a map may end while none of its rounds is in progress
    unknown_round      rounds of which little is known
    coefficients       what was fitted to real play, read from its file
    ratings            teams' ratings from results in order of time, and the chance of the next map
    rating_history     ratings of many teams, from events in order of time
    skill              how much better home is, as a distribution: by its ratings, after the rounds so far
    economy            both sides' money and equipment in few levels, and how they go on
    half_walk          the rounds that are left of a half, from each state of the economy
    map_scores         halves to a map, overtimes included
    match_scores       maps to a match
    lines              the values that a count may come to, and the lines between them
    forecast           these together, for one state of one match, each computed once
    ladder             which lines of a total or a handicap are on offer
    rules              what the engine must know about a market type: one `Rule` a type
    round_markets, half_markets, map_markets, match_markets, player_markets    the rules
    registry           all rules by id
    pricing_config     how prices are made and when they are published
    offer_plan         which markets may be on offer in one phase, in groups: made once a phase
    certainty          which markets are suspended because their result is all but certain
    repricing          until when the prices of a round may stand if no line comes
    margin             probabilities of a group to odds
    market_controls    what traders have set on a match, applied to its groups
    possible_lines     whether a line of a total or a handicap could be on offer
    held_probabilities when a probability that a trader holds ends
    offers             what the state demands to be on offer, priced
    settling           settlements to ledger entries, and rollbacks
    replayed_rounds    the bets that are void because rounds are played again
    format_change      the bets that are void because the format was changed
    manual_settlement  the same by an operator
    engine             `react` and `suspend_all`
    price_guard        moves of prices that nothing explains
    settlement_check   recompute every settlement from stored facts

Invariants: no market is open on a decided event; the markets of a group have inverse odds that sum to
1 + margin; every entry names the facts it rests on; related prices come from one distribution.
"""
