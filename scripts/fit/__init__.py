"""Fits the models' coefficients to published data of real play and writes `app/trading/coefficients.json`.

    rounds        a round, before it and in play: csgo_round_snapshots
    maps          a map's rounds: how skill is spread, how money carries over
    ratings       teams' ratings in order of time
    regression    logistic regression: Newton's method, with penalties

Each section is a module with `fit(data) -> (section, data sets)`. The same data gives the same file, byte for
byte.
"""
