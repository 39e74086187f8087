"""All rules by id. A market type that is not here is not offered."""

from app.trading import half_markets, map_markets, match_markets, player_markets, round_markets
from app.trading.rules import Rule

RULES: dict[int, Rule] = {
    rule.id: rule
    for rule in sorted(
        (
            *match_markets.RULES,
            *map_markets.RULES,
            *half_markets.RULES,
            *player_markets.RULES,
            *round_markets.RULES,
        ),
        key=lambda rule: rule.id,
    )
}
