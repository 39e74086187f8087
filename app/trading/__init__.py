"""What is offered on a match, at which price, and how it settles. Pure: no clock, no I/O.

`engine.react` compares what the state of a match demands with the book as it is, and returns the
difference: changed markets and ledger entries. It has no memory of its own, so that reacting twice
to the same state changes nothing.

    rules              a market type: specifiers, ladder of lines, and one `Rule` a type for the engine
    match_facts        what a settlement may rest on: counted rounds, map ends, events of known rounds
    match_phase        what decides which markets may be on offer: the map and the rounds of the moment
    coefficients       what was fitted to real play, read from its file
    model              how likely home wins a round; every other price follows from it
    round_state        what is known of a round when it is priced, and what the clock alone decides in it
    round_features     the numbers that the round model looks at
    round_view         a match's current round as the round model sees it
    round_model        CT's chance of a round, before it and in play
    round_endings      how a round ends, and how many kills will come
    ratings            teams' ratings from results in order of time, and the chance of the next map
    skill              how much better home is, as a distribution: by its ratings, after the rounds so far
    half_walk          the rounds that are left of a half, from each state of both sides' money and equipment
    map_scores         halves to a map, overtimes included, and maps to a match
    outlook            how a map may end, and what the current round decides of that
    lines              the values that a count may come to, and the lines between them
    forecast           these together, for one state of one match, each computed once
    round_kills        what the kills to come of a round depend on
    player_kills       a player's kills, by final scores and by what the player did before
    player_forecast    the same on a map of a match
    round_markets, half_markets, map_markets, match_markets, player_markets    the rules
    propositions       what must come true for a market to win
    registry           all rules by id
    map_paths          a map's final scores if rounds and scores on the way are demanded
    joint_distribution the probability that several markets win together
    combinations       several markets in one bet: the price, and what cannot be combined
    pricing            probabilities of a group to odds, and the settings of that
    offer_plan         which markets may be on offer in one phase, in groups: made once a phase
    market_controls    what traders have set on a match, applied to its groups
    held_probabilities when a probability that a trader holds ends
    offers             what the state demands to be on offer, priced, without what is all but certain
    repricing          until when the prices of a round may stand if no line comes
    settling           settlements to ledger entries, and rollbacks, by the engine and by an operator
    void_bets          the bets that are void because rounds are played again or the format was changed
    engine             `react` and `suspend_all`
    price_guard        moves of prices that nothing explains
    settlement_check   recompute every settlement from stored facts

Invariants: no market is open on a decided event; the markets of a group have inverse odds that sum to
1 + margin; every entry names the facts it rests on; related prices come from one distribution.
"""
