"""Lines about one player's action. One function for each kind, chosen by the verb after the player.

A player is written ``name<slot><id><side>``, without a side in a line about a change of sides. A name may
contain anything but a line break: what follows it shows where it ends.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from app.domain import facts as f
from app.domain.map_play import Coordinates
from app.domain.match import MatchPlayer, Side
from app.ingest.cs2log.match_lines import ParsedLine, cvar, known, side_named

_AFTER_NAME = r"<-?\d+><[\w\[\]:. ]*>"
_NAME = r"[^<]*(?:<.*?)??"  # in most names there is no "<"
_WRITTEN = rf'"({_NAME}{_AFTER_NAME}<\w*>)"'  #: one group: the token without its quotes
_WITHOUT_SIDE = rf'"({_NAME}{_AFTER_NAME}(?:<\w*>)?)"'  #: the same, in a line about a change of sides
_END = re.compile(rf'{_AFTER_NAME}(?:<\w*>)?"', re.ASCII)  #: the end of a token
_PARTS = re.compile(r"(.*)<-?\d+><([^<>]*)>(?:<([^<>]*)>)?\Z", re.ASCII | re.DOTALL)
_ACCOUNT = re.compile(r"\[U:1:\s*(\d{1,10})\]\Z", re.ASCII)
_LEGACY = re.compile(r"STEAM_[01]:([01]):(\d{1,10})\Z", re.ASCII)
_AT = r" \[-?\d+ -?\d+ -?\d+\]"
_PLACE = r" \[(-?\d+ -?\d+ -?\d+)\]"
_KILLED = re.compile(
    rf'{_WRITTEN}{_PLACE} killed {_WRITTEN}{_PLACE} with "(\w*)"(?: \(([a-z ]*)\))?\s*\Z', re.ASCII
)
_KILLED_OTHER = re.compile(
    rf'{_WRITTEN}{_AT} killed other "[^"<]*<\d+>"{_AT} with "\w*"(?: \([a-z ]*\))?\s*\Z', re.ASCII
)
_BLINDED = re.compile(rf"{_WRITTEN} blinded for [\d.]+ by {_WRITTEN} from flashbang ", re.ASCII)
_COORDINATES = re.compile(r"(-?\d{1,6}) (-?\d{1,6}) (-?\d{1,6})", re.ASCII)
_ASSISTED = re.compile(rf"{_WRITTEN} (flash-)?assisted killing {_WRITTEN}\s*\Z", re.ASCII)
_SUICIDE = re.compile(rf"{_WRITTEN}{_AT} committed suicide with ", re.ASCII)
_BOMBED = re.compile(rf"{_WRITTEN}{_AT} was killed by the bomb", re.ASCII)
_TRIGGERED = re.compile(rf'{_WRITTEN} triggered "(\w+)"(?: at bombsite (\w))?', re.ASCII)
_DISCONNECTED = re.compile(rf"{_WRITTEN} disconnected", re.ASCII)
_SWITCHED = re.compile(rf"{_WITHOUT_SIDE} switched from team <(\w*)> to <(\w+)>", re.ASCII)
_ATTACKED = re.compile(
    rf'{_WRITTEN}{_AT} attacked {_WRITTEN}{_AT} with "(\w*)" \(damage "\d+"\) \(damage_armor "\d+"\)'
    r' \(health "(\d{1,3})"\) \(armor "(\d{1,3})"\)',
    re.ASCII,
)
_MONEY = re.compile(
    rf"{_WRITTEN} money change \d+[+-](\d{{1,6}}) = \$(\d{{1,6}}) (?:\(tracked\) \((acquire: sellback)\))?",
    re.ASCII,
)
_ITEM_ACQUIRED = re.compile(rf'{_WRITTEN} (picked up|purchased) "(\w{{1,40}})"', re.ASCII)
_LEFT_BUYZONE = re.compile(rf"{_WRITTEN} left buyzone with \[ ([\w() ]{{0,400}})\]", re.ASCII)
_ITEM_LOST = re.compile(rf'{_WRITTEN} (?:threw|dropped) "?(\w{{1,40}})"?', re.ASCII)
_COLUMNS = re.compile(r'"fields" : " *accountid, *team, *money, *kills, *deaths\b', re.ASCII)
_ROW = re.compile(
    r'"player_\d+" : " *(\d{1,10}), *([23]), *(\d{1,6}), *(-?\d{1,4}), *(\d{1,4})[," ]', re.ASCII
)
_THROWS = ("flashgrenade", "hegrenade", "smokegrenade", "molotov", "incgrenade", "decoygrenade")
#: What hurts without its owner doing anything at that moment.
_NOT_SHOT = frozenset(("", "inferno", "planted_c4", "world", *_THROWS, "decoy"))
#: What a player triggers that no result rests on.
_TRIGGERED_NO_FACT = frozenset(
    (
        *("Got_The_Bomb", "Dropped_The_Bomb", "clantag"),
        *("Touched_A_Hostage", "Rescued_A_Hostage", "Killed_A_Hostage"),
    )
)
_CHAT = frozenset(("say", "say_team"))  #: followed by whatever was written
_NO_FACT = (
    *("connected,", "entered", "STEAM", "joined", "changed"),
    *(f"sv_throw_{grenade}" for grenade in _THROWS),
)


@lru_cache(maxsize=4096)
def parse_player(token: str) -> tuple[MatchPlayer, Side | None] | None:
    """The player and the side (None for spectators); None when `token` has another form."""
    found = _PARTS.match(token)
    if found is None:
        return None
    return MatchPlayer(account(found[2]), found[1]), side_named(found[3] or "")


def account(steam_id: str) -> int:
    """The 32-bit account number of a Steam id; 0 for bots and for players not yet validated."""
    if found := _ACCOUNT.match(steam_id):
        return int(found[1])
    if found := _LEGACY.match(steam_id):
        return int(found[2]) * 2 + int(found[1])
    return 0


def is_pending(token: str) -> bool:
    """Whether the token is of a person whose account the server does not know yet, or no longer knows."""
    found = _PARTS.match(token)
    return found is not None and not account(found[2]) and found[2] != "BOT"


def parse_player_line(message: str, at: int) -> ParsedLine:
    """Parse a line that begins with a quote: a player's action, a field of a `round_stats` block, a setting.

    A line that could be parsed in two ways, because a name contains what follows names, is unknown."""
    end = message.find('>"', 1)
    if end < 0:
        if message.startswith('"player_'):
            return round_stats_row(message, at)
        if message.startswith('"fields"'):
            return True if _COLUMNS.match(message) else f.ListBegun(at=at, columns_known=False)
        if message.startswith('"mp_'):
            return cvar(message, at)
        return '" : "' in message or '": "' in message or message.startswith('"players" : {')
    verb = _verb(message, end + 3)
    handler, players = _VERBS.get(verb, _UNKNOWN_VERB)
    ends = message.count('>"')
    if ends != players:
        found = [match.end() for match in _END.finditer(message)]
        verb, ends = _verb(message, found[0] + 1) if found else "", len(found)
        handler, players = _VERBS.get(verb, _UNKNOWN_VERB)
    if verb in _CHAT or (verb == "killed" and _KILLED_OTHER.match(message)):
        return True
    return handler(message, at) if ends == players else False


def _verb(message: str, start: int) -> str:
    """The word at `start`, or behind the coordinates there."""
    if message[start : start + 1] == "[":
        start = message.find("]", start) + 2
    return message[start : message.find(" ", start)]


def killed(message: str, at: int) -> ParsedLine:
    found = _KILLED.match(message)
    if found is None:
        return False
    killer, victim = _in_play(found[1]), _in_play(found[3])
    if killer is None or victim is None:
        return False
    how = (found[6] or "").split()
    return f.Killed(
        at=at,
        killer=killer[0],
        side=killer[1],
        victim=victim[0],
        victim_side=victim[1],
        weapon=found[5],
        headshot="headshot" in how,
        penetrated="penetrated" in how,
        position=_coordinates(found[2]),
        victim_position=_coordinates(found[4]),
        flags=tuple(word for word in how if word not in ("headshot", "penetrated")),
    )


def assisted(message: str, at: int) -> ParsedLine:
    found = _ASSISTED.match(message)
    assister, victim = (_in_play(found[1]), _in_play(found[3])) if found else (None, None)
    if found is None or assister is None or victim is None:
        return False
    return f.Assisted(at=at, assister=assister[0], victim=victim[0], flash=bool(found[2]))


def item_acquired(message: str, at: int) -> ParsedLine:
    """A purchase is logged again as picked up, except armour and kits (``item_…``); it counts once."""
    found = _ITEM_ACQUIRED.match(message)
    actor = _in_play(found[1]) if found else None
    if found is None or actor is None:
        return True
    item = found[3] if found[2] == "picked up" or found[3].startswith("item_") else ""
    return f.ItemAcquired(at=at, player=actor[0], side=actor[1], item=item)


def left_buyzone(message: str, at: int) -> ParsedLine:
    found = _LEFT_BUYZONE.match(message)
    actor = _in_play(found[1]) if found else None
    if found is None or actor is None:
        return True
    return f.Equipped(at=at, player=actor[0], side=actor[1], items=tuple(found[2].split()))


def item_lost(message: str, at: int) -> ParsedLine:
    found = _ITEM_LOST.match(message)
    actor = _in_play(found[1]) if found else None
    return f.ItemLost(at=at, player=actor[0], item=found[2]) if found and actor else True


def money_changed(message: str, at: int) -> ParsedLine:
    found = _MONEY.match(message)
    actor = _in_play(found[1]) if found else None
    if found is None or actor is None:
        return True
    refund = int(found[2]) if found[4] else 0
    return f.MoneyChanged(at=at, player=actor[0], side=actor[1], money=int(found[3]), refund=refund)


def attacked(message: str, at: int) -> ParsedLine:
    found = _ATTACKED.match(message)
    victim = _in_play(found[2]) if found else None
    if found is None or victim is None:
        return True
    shooter = parse_player(found[1]) if found[3] not in _NOT_SHOT else None
    return f.Hurt(
        at=at,
        victim=victim[0],
        side=victim[1],
        health=int(found[4]),
        armour=int(found[5]),
        shooter=shooter[0] if shooter else None,
    )


def round_stats_row(message: str, at: int) -> ParsedLine:
    """A player's row of a `round_stats` block: account (0 for a bot), side, money, kills, deaths, more."""
    found = _ROW.match(message)
    if found is None:
        return True
    side: Side = "T" if found[2] == "2" else "CT"
    return f.PlayerListed(
        at=at,
        player=MatchPlayer(int(found[1]), ""),
        side=side,
        money=int(found[3]),
        kills=int(found[4]),
        deaths=int(found[5]),
    )


def blinded(message: str, at: int) -> ParsedLine:
    return _BLINDED.match(message) is not None


def died(message: str, at: int) -> ParsedLine:
    found = _SUICIDE.match(message) or _BOMBED.match(message)
    victim = _in_play(found[1]) if found else None
    return f.Died(at=at, victim=victim[0], side=victim[1]) if victim else found is not None


def triggered(message: str, at: int) -> ParsedLine:
    found = _TRIGGERED.match(message)
    actor = parse_player(found[1]) if found else None
    if found is None or actor is None:
        return False
    match found[2]:
        case "Planted_The_Bomb" | "Bomb_Planted":
            return f.BombPlanted(at=at, player=actor[0], site=found[3] or "")
        case "Defused_The_Bomb":
            return f.BombDefused(at=at, player=actor[0])
        case "Begin_Bomb_Defuse_With_Kit" | "Begin_Bomb_Defuse_Without_Kit":
            return f.DefuseBegun(at=at, player=actor[0], kit=found[2].endswith("With_Kit"))
        case "Bomb_Begin_Plant":
            return f.PlantBegun(at=at, player=actor[0])
    return found[2] in _TRIGGERED_NO_FACT


def switched(message: str, at: int) -> ParsedLine:
    found = _SWITCHED.match(message)
    actor, side = (parse_player(found[1]), side_named(found[3])) if found else (None, None)
    from_side = side_named(found[2]) if found else None
    if found is None or actor is None or is_pending(found[1]):
        return found is not None
    if side is None:
        return f.PlayerLeft(at=at, player=actor[0], side=from_side) if from_side else True
    if from_side is None:
        return f.PlayerJoined(at=at, player=actor[0], side=side)
    return f.SideSwitched(at=at, player=actor[0], side=side)


def disconnected(message: str, at: int) -> ParsedLine:
    found = _DISCONNECTED.match(message)
    actor = _in_play(found[1]) if found and not is_pending(found[1]) else None
    return f.PlayerLeft(at=at, player=actor[0], side=actor[1]) if actor else True


def _coordinates(text: str) -> Coordinates | None:
    """A place; None for numbers that no map has."""
    found = _COORDINATES.fullmatch(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


@lru_cache(maxsize=4096)
def _in_play(token: str) -> tuple[MatchPlayer, Side] | None:
    """The player and their side; None when they are on neither."""
    parsed = parse_player(token)
    return (parsed[0], parsed[1]) if parsed and parsed[1] else None


def _unknown(message: str, at: int) -> ParsedLine:
    return False


#: What reads a line with this verb, and how many players such a line names.
_VERBS: dict[str, tuple[Callable[[str, int], ParsedLine], int]] = {
    "killed": (killed, 2),
    "assisted": (assisted, 2),
    "flash-assisted": (assisted, 2),
    "picked": (item_acquired, 1),
    "purchased": (item_acquired, 1),
    "attacked": (attacked, 2),
    "blinded": (blinded, 2),
    "left": (left_buyzone, 1),
    "threw": (item_lost, 1),
    "dropped": (item_lost, 1),
    "money": (money_changed, 1),
    "committed": (died, 1),
    "was": (died, 1),
    "triggered": (triggered, 1),
    "switched": (switched, 1),
    "disconnected": (disconnected, 1),
    **dict.fromkeys(_NO_FACT, (known, 1)),
}
_UNKNOWN_VERB = (_unknown, 1)
