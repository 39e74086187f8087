"""What is offered on a match, at which price, and how it settles. Pure: no clock, no I/O.

`engine.react` compares what the state of a match demands with the book as it is, and answers the
difference: changed markets and ledger entries. It keeps no memory of its own, so that reacting twice
to the same state changes nothing.

    spec        a market's specifiers, typed, and their canonical text
    evidence    what a verdict may rest on: counted rounds, map ends, events of known rounds
    stage       where a match stands, as far as offers depend on it
    model       how likely home wins a round; the beliefs that everything else follows from
    duel        one round, kill by kill
    chain       rounds to a map, by sides, momentum and overtime
    series      maps to a match
    outlook     these together, for one state of one match, computed once
    rules       what a market type must be able to say: one `Rule` a type
    round_markets, half_markets, map_markets, match_markets, tables    the rules, by noun
    margin      probabilities of a group to odds
    offers      what the state demands to be on offer, priced
    settling    verdicts to ledger entries, and back
    replayed    the bets that are void because rounds are played again
    reformat    the bets that are void because the format was changed
    desk        the same by hand, for operators
    engine      `react` and `suspend_all`
    audit       recompute every settlement from stored facts

Invariants: no market is open on a decided event; the markets of a group have inverse odds that sum to
1 + margin; every entry names the facts it rests on; related prices come from one distribution.
Imported by `commands` and, for the audit, `cli`; imports `domain` and `kit`. `store` and `wire` do not know
it.
"""
