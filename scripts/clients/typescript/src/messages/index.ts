// Generated from `schemas/feed.xsd` by `python -m codegen`: do not edit.

/** How an attribute is read; `codes` are the values that it may have. */
export interface Attribute {
  readonly kind: "text" | "integer" | "decimal" | "flag" | "code";
  readonly required: boolean;
  readonly codes?: readonly (number | string)[];
}

/** A child element, by its name in `SHAPES`. */
export interface Child {
  readonly shape: string;
  readonly required: boolean;
  readonly many: boolean;
}

/** What an element has. */
export interface Shape {
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly children: Readonly<Record<string, Child>>;
}

/** How sure a result is. No other value is ever sent. */
export const Certainty = {
  /**
   * it follows from the game server's own log or from an operator, and no second message will confirm it. A
   * rollback may still withdraw it.
   */
  CONFIRMED: 2,
} as const;
export type Certainty = (typeof Certainty)[keyof typeof Certainty];

/** What changed in the life of a match. */
export const ChangeType = {
  /** play has begun. */
  KICKOFF: 1,
  /** the match will not be played (to the end). */
  CANCELLATION: 3,
} as const;
export type ChangeType = (typeof ChangeType)[keyof typeof ChangeType];

/** What may be done with a market. No other status is ever sent. */
export const MarketStatus = {
  /** bets may be taken at the odds shown. */
  ACTIVE: 1,
  /** not on offer, neither settled nor void. */
  INACTIVE: 0,
  /** stop taking bets at once; it may come back. */
  SUSPENDED: -1,
  /** decided; a bet_settlement tells the result. */
  SETTLED: -3,
  /** void; a bet_cancel tells why. */
  CANCELLED: -4,
} as const;
export type MarketStatus = (typeof MarketStatus)[keyof typeof MarketStatus];

/** What a period of a match is. */
export const PeriodType = {
  /** one map of the series. */
  MAP: "map",
} as const;
export type PeriodType = (typeof PeriodType)[keyof typeof PeriodType];

/** How an outcome ended. */
export const Result = {
  /** it happened. */
  WON: 1,
  /** it did not happen. */
  LOST: 0,
} as const;
export type Result = (typeof Result)[keyof typeof Result];

/** Where a match is in its life. The same codes say where one of its maps is. */
export const StatusCode = {
  /** play has not begun. */
  NOT_STARTED: 0,
  /** being played. */
  LIVE: 1,
  /** finished, the result stands. */
  CLOSED: 4,
  /** will not be played (to the end). */
  CANCELLED: 5,
} as const;
export type StatusCode = (typeof StatusCode)[keyof typeof StatusCode];

/** Groups of markets. No other value is ever sent. */
export const StoppedGroups = {
  /** every market of the match. */
  ALL: "all",
} as const;
export type StoppedGroups = (typeof StoppedGroups)[keyof typeof StoppedGroups];

/** Which of the two teams, by its place in the match. */
export const Team = {
  /** the team listed first. */
  HOME: 1,
  /** the team listed second. */
  AWAY: 2,
} as const;
export type Team = (typeof Team)[keyof typeof Team];

/** Sent every ten seconds: the producer is there. */
export interface Alive {
  readonly kind: "alive";
  /** The producer that speaks: an id of the producers catalogue. */
  readonly product: number;
  /** When it was sent. */
  readonly timestamp: number;
  /** 0 when messages may have been missed: suspend, and start a recovery. */
  readonly subscribed: boolean;
}

/**
 * Markets that are void. A settlement of the same market that came before no longer stands. With start_time
 * and end_time only the bets placed from one to the other are void: the markets go on as they are, and so do
 * their settlements.
 */
export interface BetCancel {
  readonly kind: "bet_cancel";
  /** The producer that speaks: an id of the producers catalogue. */
  readonly product: number;
  /** The match that the message is about. */
  readonly event_id: string;
  /**
   * When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
   * settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
   */
  readonly timestamp: number;
  /** The recovery that this message answers; left out live. */
  readonly request_id?: string;
  /** Only bets placed at or after this moment (Unix ms) are meant. Comes with end_time. */
  readonly start_time?: number;
  /**
   * Only bets placed at or before this moment (Unix ms) are meant: the status of the market does not change.
   */
  readonly end_time?: number;
  /** One void market. */
  readonly market: readonly CancelledMarket[];
}

/** Markets that are decided. The timestamp is that of the decision, on a replay too. */
export interface BetSettlement {
  readonly kind: "bet_settlement";
  /** The producer that speaks: an id of the producers catalogue. */
  readonly product: number;
  /** The match that the message is about. */
  readonly event_id: string;
  /**
   * When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
   * settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
   */
  readonly timestamp: number;
  /** The recovery that this message answers; left out live. */
  readonly request_id?: string;
  /** How sure the results are; left out by versions that did not say. */
  readonly certainty?: Certainty;
  /** The decided markets. */
  readonly outcomes: SettlementList;
}

/**
 * Nothing of a match is on offer any more. Live only, for tenants that have requested it, directly before the
 * odds_change that lists the same markets one by one.
 */
export interface BetStop {
  readonly kind: "bet_stop";
  /** The producer that speaks: an id of the producers catalogue. */
  readonly product: number;
  /** The match that the message is about. */
  readonly event_id: string;
  /**
   * When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
   * settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
   */
  readonly timestamp: number;
  /** The recovery that this message answers; left out live. */
  readonly request_id?: string;
  /** Which markets stop. */
  readonly groups: StoppedGroups;
  /** The status that the active ones of them have now: -1. */
  readonly market_status: MarketStatus;
}

/** A void market: all stakes go back. */
export interface CancelledMarket {
  /** The market's type: an id of the market catalogue. */
  readonly id: number;
  /** What the market is about. */
  readonly specifiers?: string;
  /** Why: an id of the void reasons catalogue. */
  readonly void_reason_id: number;
  /** What to put into the template of that reason: name=value, more than one separated by |. */
  readonly void_reason_params?: string;
}

/** The state of a match. */
export interface EventStatus {
  /** Where the match is in its life. */
  readonly status: StatusCode;
  /** The same, as an id of the match status dictionary. */
  readonly match_status: StatusCode;
  /** Maps won by home. */
  readonly home_score: number;
  /** Maps won by away. */
  readonly away_score: number;
  /** The competitor that won; sent once the match is closed. */
  readonly winner_id?: string;
  /** Whether a scoreboard follows. */
  readonly scoreboard_available?: boolean;
  /** The score by map. */
  readonly period_scores?: PeriodScores;
  /** The map being played, while one is. */
  readonly scoreboard?: Scoreboard;
}

/** A step in the life of a match. */
export interface FixtureChange {
  readonly kind: "fixture_change";
  /** The producer that speaks: an id of the producers catalogue. */
  readonly product: number;
  /** The match that the message is about. */
  readonly event_id: string;
  /**
   * When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
   * settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
   */
  readonly timestamp: number;
  /** The recovery that this message answers; left out live. */
  readonly request_id?: string;
  /** Which step. */
  readonly change_type: ChangeType;
}

/** The state of a match, and markets of it: live those that changed, in a recovery the full list. */
export interface OddsChange {
  readonly kind: "odds_change";
  /** The producer that speaks: an id of the producers catalogue. */
  readonly product: number;
  /** The match that the message is about. */
  readonly event_id: string;
  /**
   * When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
   * settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
   */
  readonly timestamp: number;
  /** The recovery that this message answers; left out live. */
  readonly request_id?: string;
  /** The state of the match. */
  readonly sport_event_status?: EventStatus;
  /** Its markets. Empty where only the state changed, and in a recovery where nothing is on offer. */
  readonly odds: OddsList;
}

/**
 * Live: the markets that changed; what is not listed is as it was. In a recovery: all markets that are active
 * or suspended, and if it was requested with `after`, of a match that is over also how every market ended.
 */
export interface OddsList {
  /** One market. */
  readonly market: readonly OddsMarket[];
}

/** The present state of one market. */
export interface OddsMarket {
  /** The market's type: an id of the market catalogue. */
  readonly id: number;
  /** What the market is about. */
  readonly specifiers?: string;
  /**
   * 1 on both sides of the line that is nearest to evens, of the lines of one total or handicap that are
   * active; left out on all others.
   */
  readonly favourite?: boolean;
  /** What may be done with it. */
  readonly status: MarketStatus;
  /** One outcome. */
  readonly outcome: readonly OddsOutcome[];
}

/** What may happen, and its price. */
export interface OddsOutcome {
  /** The outcome, by its id in the market catalogue; a Counter-Strike market has one, 1. */
  readonly id: string;
  /** The price; left out when the market is over. */
  readonly odds?: number;
  /** The probability without margin. */
  readonly probabilities?: number;
  /** Whether bets on this outcome may be taken. */
  readonly active: boolean;
}

/** The score of one map of the series. */
export interface PeriodScore {
  /** The kind of period. */
  readonly type: PeriodType;
  /** Which map of the series, counted from 1. */
  readonly number: number;
  /** Whether this map is still to come, being played or over: the one sure sign of the current map. */
  readonly match_status_code: StatusCode;
  /** 1 when home won this map, else 0. */
  readonly home_score: number;
  /** 1 when away won this map, else 0. */
  readonly away_score: number;
  /** Rounds won by home on this map; left out until the map has begun. */
  readonly home_won_rounds?: number;
  /** Rounds won by away on this map; left out until the map has begun. */
  readonly away_won_rounds?: number;
}

/** The maps of the series in the order of play. */
export interface PeriodScores {
  /** One map. */
  readonly period_score: readonly PeriodScore[];
}

/** A market whose settlement or void no longer stands. */
export interface ReopenedMarket {
  /** The market's type: an id of the market catalogue. */
  readonly id: number;
  /** What the market is about. */
  readonly specifiers?: string;
}

/**
 * Voids that are taken back. With start_time and end_time it is the void of the bets placed from one to the
 * other, and nothing else.
 */
export interface RollbackBetCancel {
  readonly kind: "rollback_bet_cancel";
  /** The producer that speaks: an id of the producers catalogue. */
  readonly product: number;
  /** The match that the message is about. */
  readonly event_id: string;
  /**
   * When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
   * settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
   */
  readonly timestamp: number;
  /** The recovery that this message answers; left out live. */
  readonly request_id?: string;
  /** Only bets placed at or after this moment (Unix ms) are meant. Comes with end_time. */
  readonly start_time?: number;
  /**
   * Only bets placed at or before this moment (Unix ms) are meant: the status of the market does not change.
   */
  readonly end_time?: number;
  /** One market that is not void any more. */
  readonly market: readonly ReopenedMarket[];
}

/** Settlements that are taken back. */
export interface RollbackBetSettlement {
  readonly kind: "rollback_bet_settlement";
  /** The producer that speaks: an id of the producers catalogue. */
  readonly product: number;
  /** The match that the message is about. */
  readonly event_id: string;
  /**
   * When it was so. Rises with every live message of a match, and no two of them share a millisecond; a
   * settlement, void, rollback or fixture change that a recovery tells bears the stamp that it had.
   */
  readonly timestamp: number;
  /** The recovery that this message answers; left out live. */
  readonly request_id?: string;
  /** One market whose settlement no longer stands. */
  readonly market: readonly ReopenedMarket[];
}

/** The map being played. */
export interface Scoreboard {
  /** The team that plays the counter-terrorist side now; left out until the server says. */
  readonly current_ct_team?: Team;
  /** Rounds won by home on the current map. */
  readonly home_won_rounds: number;
  /** Rounds won by away on the current map. */
  readonly away_won_rounds: number;
  /** The round being played, counted from 1 on each map; left out between rounds. */
  readonly current_round?: number;
}

/** A decided market. */
export interface SettledMarket {
  /** The market's type: an id of the market catalogue. */
  readonly id: number;
  /** What the market is about. */
  readonly specifiers?: string;
  /** One outcome and its result. */
  readonly outcome: readonly SettledOutcome[];
}

/** How an outcome ended. */
export interface SettledOutcome {
  /** The outcome, by its id in the market catalogue. */
  readonly id: string;
  /** Won or lost. */
  readonly result: Result;
}

/** Markets that were decided together. */
export interface SettlementList {
  /** One market. */
  readonly market: readonly SettledMarket[];
}

/** The end of a recovery. */
export interface SnapshotComplete {
  readonly kind: "snapshot_complete";
  /** The producer that speaks: an id of the producers catalogue. */
  readonly product: number;
  /** When it ended. */
  readonly timestamp: number;
  /** The recovery that ended. */
  readonly request_id: string;
}

/** Any message of the feed. */
export type Message =
  | Alive
  | BetCancel
  | BetSettlement
  | BetStop
  | FixtureChange
  | OddsChange
  | RollbackBetCancel
  | RollbackBetSettlement
  | SnapshotComplete;

/** The shape of each root element. */
export const ROOTS: Readonly<Record<string, string>> = {
  alive: "Alive",
  bet_cancel: "BetCancel",
  bet_settlement: "BetSettlement",
  bet_stop: "BetStop",
  fixture_change: "FixtureChange",
  odds_change: "OddsChange",
  rollback_bet_cancel: "RollbackBetCancel",
  rollback_bet_settlement: "RollbackBetSettlement",
  snapshot_complete: "SnapshotComplete",
};

export const SHAPES: Readonly<Record<string, Shape>> = {
  Alive: {
    attributes: {
      product: { kind: "integer", required: true },
      timestamp: { kind: "integer", required: true },
      subscribed: { kind: "flag", required: true },
    },
    children: {
    },
  },
  BetCancel: {
    attributes: {
      product: { kind: "integer", required: true },
      event_id: { kind: "text", required: true },
      timestamp: { kind: "integer", required: true },
      request_id: { kind: "text", required: false },
      start_time: { kind: "integer", required: false },
      end_time: { kind: "integer", required: false },
    },
    children: {
      market: { shape: "CancelledMarket", required: true, many: true },
    },
  },
  BetSettlement: {
    attributes: {
      product: { kind: "integer", required: true },
      event_id: { kind: "text", required: true },
      timestamp: { kind: "integer", required: true },
      request_id: { kind: "text", required: false },
      certainty: { kind: "code", required: false, codes: Object.values(Certainty) },
    },
    children: {
      outcomes: { shape: "SettlementList", required: true, many: false },
    },
  },
  BetStop: {
    attributes: {
      product: { kind: "integer", required: true },
      event_id: { kind: "text", required: true },
      timestamp: { kind: "integer", required: true },
      request_id: { kind: "text", required: false },
      groups: { kind: "code", required: true, codes: Object.values(StoppedGroups) },
      market_status: { kind: "code", required: true, codes: Object.values(MarketStatus) },
    },
    children: {
    },
  },
  CancelledMarket: {
    attributes: {
      id: { kind: "integer", required: true },
      specifiers: { kind: "text", required: false },
      void_reason_id: { kind: "integer", required: true },
      void_reason_params: { kind: "text", required: false },
    },
    children: {
    },
  },
  EventStatus: {
    attributes: {
      status: { kind: "code", required: true, codes: Object.values(StatusCode) },
      match_status: { kind: "code", required: true, codes: Object.values(StatusCode) },
      home_score: { kind: "integer", required: true },
      away_score: { kind: "integer", required: true },
      winner_id: { kind: "text", required: false },
      scoreboard_available: { kind: "flag", required: false },
    },
    children: {
      period_scores: { shape: "PeriodScores", required: false, many: false },
      scoreboard: { shape: "Scoreboard", required: false, many: false },
    },
  },
  FixtureChange: {
    attributes: {
      product: { kind: "integer", required: true },
      event_id: { kind: "text", required: true },
      timestamp: { kind: "integer", required: true },
      request_id: { kind: "text", required: false },
      change_type: { kind: "code", required: true, codes: Object.values(ChangeType) },
    },
    children: {
    },
  },
  OddsChange: {
    attributes: {
      product: { kind: "integer", required: true },
      event_id: { kind: "text", required: true },
      timestamp: { kind: "integer", required: true },
      request_id: { kind: "text", required: false },
    },
    children: {
      sport_event_status: { shape: "EventStatus", required: false, many: false },
      odds: { shape: "OddsList", required: true, many: false },
    },
  },
  OddsList: {
    attributes: {
    },
    children: {
      market: { shape: "OddsMarket", required: false, many: true },
    },
  },
  OddsMarket: {
    attributes: {
      id: { kind: "integer", required: true },
      specifiers: { kind: "text", required: false },
      favourite: { kind: "flag", required: false },
      status: { kind: "code", required: true, codes: Object.values(MarketStatus) },
    },
    children: {
      outcome: { shape: "OddsOutcome", required: false, many: true },
    },
  },
  OddsOutcome: {
    attributes: {
      id: { kind: "text", required: true },
      odds: { kind: "decimal", required: false },
      probabilities: { kind: "decimal", required: false },
      active: { kind: "flag", required: true },
    },
    children: {
    },
  },
  PeriodScore: {
    attributes: {
      type: { kind: "code", required: true, codes: Object.values(PeriodType) },
      number: { kind: "integer", required: true },
      match_status_code: { kind: "code", required: true, codes: Object.values(StatusCode) },
      home_score: { kind: "integer", required: true },
      away_score: { kind: "integer", required: true },
      home_won_rounds: { kind: "integer", required: false },
      away_won_rounds: { kind: "integer", required: false },
    },
    children: {
    },
  },
  PeriodScores: {
    attributes: {
    },
    children: {
      period_score: { shape: "PeriodScore", required: false, many: true },
    },
  },
  ReopenedMarket: {
    attributes: {
      id: { kind: "integer", required: true },
      specifiers: { kind: "text", required: false },
    },
    children: {
    },
  },
  RollbackBetCancel: {
    attributes: {
      product: { kind: "integer", required: true },
      event_id: { kind: "text", required: true },
      timestamp: { kind: "integer", required: true },
      request_id: { kind: "text", required: false },
      start_time: { kind: "integer", required: false },
      end_time: { kind: "integer", required: false },
    },
    children: {
      market: { shape: "ReopenedMarket", required: true, many: true },
    },
  },
  RollbackBetSettlement: {
    attributes: {
      product: { kind: "integer", required: true },
      event_id: { kind: "text", required: true },
      timestamp: { kind: "integer", required: true },
      request_id: { kind: "text", required: false },
    },
    children: {
      market: { shape: "ReopenedMarket", required: true, many: true },
    },
  },
  Scoreboard: {
    attributes: {
      current_ct_team: { kind: "code", required: false, codes: Object.values(Team) },
      home_won_rounds: { kind: "integer", required: true },
      away_won_rounds: { kind: "integer", required: true },
      current_round: { kind: "integer", required: false },
    },
    children: {
    },
  },
  SettledMarket: {
    attributes: {
      id: { kind: "integer", required: true },
      specifiers: { kind: "text", required: false },
    },
    children: {
      outcome: { shape: "SettledOutcome", required: true, many: true },
    },
  },
  SettledOutcome: {
    attributes: {
      id: { kind: "text", required: true },
      result: { kind: "code", required: true, codes: Object.values(Result) },
    },
    children: {
    },
  },
  SettlementList: {
    attributes: {
    },
    children: {
      market: { shape: "SettledMarket", required: true, many: true },
    },
  },
  SnapshotComplete: {
    attributes: {
      product: { kind: "integer", required: true },
      timestamp: { kind: "integer", required: true },
      request_id: { kind: "text", required: true },
    },
    children: {
    },
  },
};
