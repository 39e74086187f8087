"""Combinations: several markets that a tenant's customer bets on together.

`request` prices a combination for a tenant, stores it with the states that it was priced by, and says which
markets can be part of one. `settlement` says how stored combinations stand by the ledger. The joint price
itself is `trading.combinations`, what the ledger makes of a combination `domain.combination`: both are pure.

Invariants:
- a combination never changes once it is stored: the same legs may be made again from its states, at any time,
  and what is left of it after voids is priced by the state at which the whole was;
- legs of one match are priced together, by one state of the match, and matches as independent of each other;
- a tenant sees its own combinations only, and can combine what it may bet on alone.
"""
