"""Published data of real play, read for fits (`scripts/fit`) and benchmarks (`scripts/bench/reality`).

    place        where the data lies
    snapshots    csgo_round_snapshots: moments of rounds
    team_maps    cs2_maps_2025, cs2_maps_2025_06_12, cs2_maps_2026_02: results of CS2 maps, and Elo
    old_maps     csgo_maps_2021: results with scores
    rated_maps   both, predicted by teams' ratings in order of time
    best_of_three  how often a best of three of them ends 2:0
    series       cs2_series_odds_2026: winners of series, with odds
    labels       who won the rounds and maps of the snapshots
    scores       how good predictions are: log loss, Brier score, AUC, calibration error, with intervals

None of the data is part of the project: `docs/pricing.md` says what was fitted to what.
"""
