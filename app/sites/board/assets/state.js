// What the page knows, and how answers and frames change it. No element is touched here.

const TICKER = 14;
const SETTLEMENTS = 15;
const FRAMES = 40;
const FRESH_MILLIS = 8_000;

export class State {
  constructor() {
    this.matches = new Map(); // by id: the match resource as far as it was seen
    this.offers = new Map(); // by match id: by market_offer_id
    this.lists = { live: [], upcoming: [], finished: [] };
    this.events = new Map(); // by match id: events and rounds by fact number, newest last
    this.settled = []; // newest first
    this.frames = []; // newest first
    this.names = new Map(); // templates by market type
    this.reasons = new Map(); // descriptions by code
    this.players = new Map(); // names by id, the id itself where there is none
    this.urns = new Map(); // names of matches that no list has, by URN; the URN itself where there is none
    this.selected = null;
    this.report = null;
    this.seen = new Set(); // settlements by id
  }

  match(id) {
    return this.matches.get(id);
  }

  list(status, rows) {
    this.lists[status] = rows.map((row) => row.id);
    for (const row of rows) this.learn(row);
  }

  /** Takes what a match resource says, whole or in its basic shape. */
  learn(data) {
    const before = this.matches.get(data.id) ?? {};
    const { markets, events, rounds, ...rest } = data;
    this.matches.set(data.id, { ...before, ...rest });
    if (markets) this.book(data.id, markets);
    if (events) this.facts(data.id, events);
    if (rounds) this.facts(data.id, rounds);
  }

  /** All markets of a match that are on offer or suspended. */
  book(id, markets) {
    const before = this.offers.get(id) ?? new Map();
    this.offers.set(id, new Map());
    for (const market of markets) this.offer(id, market, before);
  }

  offer(id, market, before = this.offers.get(id) ?? new Map()) {
    const offers = this.offers.get(id) ?? new Map();
    this.offers.set(id, offers);
    const name = market.market_offer_id;
    if (market.status !== "active" && market.status !== "suspended") {
      offers.delete(name);
      return;
    }
    const old = before.get(name);
    const moved = old && market.odds !== old.odds;
    offers.set(name, {
      ...market,
      way: moved ? (market.odds > old.odds ? "up" : "down") : old?.way,
      movedAt: moved ? Date.now() : old?.movedAt ?? 0,
    });
  }

  /** The players whom shown markets are about and whose names are not known yet. */
  nameless() {
    const shown = [...(this.offers.get(this.selected)?.values() ?? []), ...this.settled];
    const says = shown.map((each) => specifiers(each.specifiers));
    const ids = says.flatMap(({ player, opponent }) => [player, opponent]);
    return [...new Set(ids)].filter((id) => id && !this.players.has(id));
  }

  /** A player's name, or the id where it is not known. */
  player(id) {
    return this.players.get(id) ?? id;
  }

  /** Whether a price moved just now. */
  fresh(offer) {
    return Date.now() - offer.movedAt < FRESH_MILLIS;
  }

  facts(id, found) {
    const known = this.events.get(id) ?? new Map();
    for (const each of found) known.set(each.id, each);
    this.events.set(id, known);
  }

  /** The newest events of a match, newest first. */
  ticker(id) {
    return [...(this.events.get(id) ?? new Map()).values()].sort((a, b) => b.id - a.id).slice(0, TICKER);
  }

  settle(entry) {
    if (this.seen.has(entry.id)) return;
    this.seen.add(entry.id);
    this.settled.push(entry);
    this.settled.sort((a, b) => b.id - a.id);
    this.settled.length = Math.min(this.settled.length, SETTLEMENTS);
  }

  frame({ type, data, meta }) {
    if (type === "alive") return;
    if (!meta?.snapshot) {
      this.frames.unshift({ type, id: `${meta.seq}${type}`, at: Date.parse(meta.ts), match: data.match_id ?? data.id });
      this.frames.length = Math.min(this.frames.length, FRAMES);
    }
    if (type.startsWith("match.")) this.learn(data);
    else if (type.startsWith("market.")) this.offer(data.match_id, data);
    else if (type === "bet_settlement") this.settle(data);
    else if (type.startsWith("event.") || type === "round.finished") this.facts(data.match_id, [data]);
    else if (type === "scoreboard.frame") {
      const match = this.matches.get(data.match_id);
      if (match) match.scoreboard = data.scoreboard;
    }
  }

  /** Why the prices of a match are suspended, when none is open; "" otherwise. */
  standstill(id) {
    const offers = [...(this.offers.get(id)?.values() ?? [])];
    if (!offers.length || offers.some((offer) => offer.status === "active")) return "";
    return this.reason(offers.find((offer) => offer.suspended_reason));
  }

  /** Why a market is suspended, in words; "" where nothing is said. */
  reason(offer) {
    return this.reasons.get(offer?.suspended_reason_code) ?? offer?.suspended_reason ?? "";
  }

  /** A match by its teams, or by its URN while they are not known. */
  nameOf(urn) {
    const found = [...this.matches.values()].find((each) => each.urn === urn);
    return found ? `${found.team_a} – ${found.team_b}` : this.urns.get(urn) ?? urn;
  }

  /** The matches that the report is about and whose names are not known yet, by URN. */
  unnamed() {
    const { envelopes = [], story = [] } = this.report ?? {};
    const urns = [...envelopes.map((each) => each.match), ...story.flatMap((each) => each.text.match(/od:match:\d+/g) ?? [])];
    return [...new Set(urns)].filter((urn) => urn && this.nameOf(urn) === urn && !this.urns.has(urn));
  }

  open(id) {
    return [...(this.offers.get(id)?.values() ?? [])].filter((offer) => offer.status === "active").length;
  }
}

/** What the specifiers of a market say, by name. */
export function specifiers(given) {
  return Object.fromEntries(given ? given.split("|").map((part) => part.split("=")) : []);
}
