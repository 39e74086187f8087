// What is on offer, by the rules of docs/feed.md and docs/stream.md, without any connection.
//
// A message older than the last one about a market changes nothing. A recovery's odds_change is all of its match. While a
// recovery runs, live messages wait, and a match of which one waits is suspended: what is on offer of it is not the newest any
// more. Matches that it does not replay are over, or not ours any more.

import { type Message, MarketStatus, type OddsMarket } from "./messages/index.js";
import type { Digest, Frame, HeldMarket } from "./rest.js";

export type State = "open" | "suspended" | "closed";

/** The newest state of a market. `at`: of which moment (Unix ms); `odds` only while it is open. */
export interface Offer {
  readonly market: number;
  readonly specifiers: string;
  readonly at: number;
  readonly state: State;
  readonly odds?: number;
}

/** An offer, and its match: `od:match:<n>` in a book that is fed from a queue, a UUID in one fed from frames. */
export interface OpenOffer extends Offer {
  readonly match: string;
}

/** A book as it is stored. */
export interface StoredBook {
  readonly after: number;
  readonly seqs: Record<string, number>;
  readonly published: Record<string, number>;
  readonly offers: Record<string, Offer[]>;
}

type MatchMessage = Exclude<Message, { kind: "alive" | "snapshot_complete" }>;
type Offers = Map<string, Offer>;

interface Waiting {
  readonly message: MatchMessage;
  readonly seq: number;
  readonly previous: number;
}

const DAY_MILLIS = 86_400_000;

export class Book {
  readonly offers = new Map<string, Offers>();
  /** Up to this moment (Unix ms) nothing is missing. While a recovery is due it does not move. */
  after: number;
  /** The number of the recovery that runs, "" when none does. */
  recovery = "";
  /** A recovery must be requested. The book is complete while there is neither this nor `recovery`. */
  due = true;
  /** Changes are interrupted: nothing is open, whatever `offers` says. */
  stale = false;
  #mentioned = new Set<string>();
  readonly #published = new Map<string, number>(); // when a match was last published in full
  readonly #seqs = new Map<string, number>();
  #replayed = new Set<string>();
  #waiting: Waiting[] = [];
  readonly #halted = new Map<string, Offers>(); // open ones of matches of which a message waits

  constructor(after = 0) {
    this.after = after;
  }

  /** What may be offered now. */
  *open(): Generator<OpenOffer> {
    if (this.stale) return;
    for (const [match, offers] of this.offers)
      for (const offer of offers.values()) if (offer.state === "open") yield { match, ...offer };
  }

  /** Something was missed: suspend these matches (all, if none is named) until they are published again. */
  suspend(...matches: string[]): void {
    for (const match of matches.length > 0 ? matches : this.offers.keys()) {
      this.#halt(match);
      if (this.#halted.has(match)) this.#halted.set(match, new Map());
    }
    this.due = true;
  }

  /** A recovery with this number is about to be requested. */
  beginRecovery(number: string): void {
    this.recovery = number;
    this.due = false;
    this.#replayed = new Set();
  }

  /**
   * Fold in a message of the queue; `seq` and `previous` are its headers x-seq and x-prev-seq, `received` is when it came.
   * Returns what has been applied: the message; nothing while it waits for the recovery or belongs to another one; at a
   * recovery's end all that waited.
   */
  receive(message: Message, seq: number, previous: number, received: number): Message[] {
    const applied = this.#receive(message, seq, previous);
    this.after = Math.min(this.after, received); // the clock of a server may be fast
    return applied;
  }

  #receive(message: Message, seq: number, previous: number): Message[] {
    if (message.kind === "alive") {
      if (!message.subscribed) this.suspend();
      return [message];
    }
    if (message.kind === "snapshot_complete") {
      return message.request_id === this.recovery ? this.#complete(message) : [];
    }
    if (message.request_id === undefined && this.recovery !== "") {
      this.#waiting.push({ message, seq, previous });
      this.#keepHalted(message.event_id);
      return [];
    }
    if (message.request_id !== undefined && message.request_id !== this.recovery) return [];
    this.#apply(message, seq, previous);
    return [message];
  }

  #complete(end: Message & { kind: "snapshot_complete" }): Message[] {
    for (const [match, offers] of this.offers) if (!this.#replayed.has(match)) close(offers, () => true);
    if (!this.due) this.after = Math.max(this.after, end.timestamp);
    this.recovery = "";
    for (const [match, halted] of this.#halted) {
      const offers = this.#of(match);
      for (const [key, offer] of halted) {
        const present = offers.get(key); // what has come newer since stays
        if (present?.state === "suspended" && present.at === offer.at) offers.set(key, offer);
      }
    }
    this.#halted.clear();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { message, seq, previous } of waiting) this.#apply(message, seq, previous);
    return [end, ...waiting.map((each) => each.message)];
  }

  #apply(message: MatchMessage, seq: number, previous: number): void {
    const match = message.event_id;
    const replayed = message.request_id !== undefined;
    const known = this.#seqs.get(match) ?? 0;
    if (!replayed && previous > known) {
      this.#goBack(match, message.timestamp);
      this.suspend(match);
    }
    this.#seqs.set(match, Math.max(known, seq));
    // A replay that is interrupted is requested again.
    if (!replayed && !this.due) this.after = Math.max(this.after, message.timestamp);
    this.#replayed.add(match);
    this.#fold(message);
    if (this.due) this.suspend(match); // something was missed since, or is missing before
    else if (this.#halted.has(match)) this.#keepHalted(match); // a live message waits that is newer than what is replayed
  }

  /** Suspend what is open of the match until the recovery ends. */
  #keepHalted(match: string): void {
    const known = this.#halted.get(match) ?? new Map<string, Offer>();
    this.#halted.set(match, new Map([...known, ...this.#halt(match)]));
  }

  #fold(message: MatchMessage): void {
    const { event_id: match, timestamp: at } = message;
    const offers = this.#of(match);
    const published = this.#published.get(match) ?? 0;
    if (message.kind === "bet_stop") {
      for (const [key, offer] of offers)
        if (offer.state !== "closed" && offer.at < at) offers.set(key, restated(offer, "suspended", at));
    }
    for (const offer of news(message)) {
      const key = marketKey(offer.market, offer.specifiers);
      if (at > Math.max(published, offers.get(key)?.at ?? 0)) offers.set(key, offer);
    }
    if (message.kind === "odds_change" && message.request_id !== undefined && at > published) {
      this.#published.set(match, at);
      close(offers, (offer) => offer.at < at, at);
    }
  }

  /** What is missing of a match may be as old as its last message, however much came of others since. */
  #goBack(match: string, now: number): void {
    const newest = Math.max(0, ...[...this.#of(match).values()].map((offer) => offer.at));
    this.after = Math.min(this.after, Math.max(newest, now - DAY_MILLIS));
  }

  /** Suspend what is open of the match; returns it. */
  #halt(match: string): Offers {
    const offers = this.#of(match);
    const opened = new Map([...offers].filter(([, offer]) => offer.state === "open"));
    for (const [key, offer] of opened) offers.set(key, restated(offer, "suspended"));
    return opened;
  }

  /** Fold in a frame. The `alive` that ends a snapshot closes what the snapshot did not contain. */
  fold(frame: Frame): void {
    const at = Date.parse(frame.meta.ts);
    const snapshot = frame.meta.snapshot === true;
    if (frame.type === "alive") {
      if (snapshot)
        for (const [match, offers] of this.offers)
          close(offers, (offer) => !this.#mentioned.has(mention(match, offer.market, offer.specifiers)), at);
      this.after = Math.max(this.after, at);
    } else if (isMarket(frame)) {
      const { match_id: match, id: market, specifiers, status, odds } = frame.data;
      const state = status === "active" ? "open" : status === "suspended" ? "suspended" : "closed";
      const offer = { market, specifiers, at, state } as const;
      this.#of(match).set(marketKey(market, specifiers), state === "open" ? { ...offer, odds } : offer);
      this.#seqs.set(match, Math.max(this.#seqs.get(match) ?? 0, frame.meta.seq));
      if (snapshot) this.#mentioned.add(mention(match, market, specifiers));
    }
  }

  /** What `fold` receives next may be the beginning of a snapshot, not the rest of one. */
  beginSnapshot(): void {
    this.#mentioned = new Set();
  }

  /** What is open or suspended, as the self-check takes it. */
  digest(): Digest {
    const matches = [...this.offers].flatMap(([match, offers]) => {
      const markets = [...offers.values()].filter((offer) => offer.state !== "closed").map(held);
      return markets.length > 0 ? [{ match, seq: this.#seqs.get(match) ?? 0, markets }] : [];
    });
    return { matches, complete: true };
  }

  /** The book for storage. In the middle of a recovery it is incomplete: store it before or after. */
  toJSON(): StoredBook {
    return {
      after: this.after,
      seqs: Object.fromEntries(this.#seqs),
      published: Object.fromEntries(this.#published),
      offers: Object.fromEntries([...this.offers].map(([match, offers]) => [match, [...offers.values()]])),
    };
  }

  /** The book as it was stored. What was missed since is unknown: suspend it, or set `stale`. */
  static from(stored: StoredBook): Book {
    const book = new Book(stored.after);
    for (const [match, seq] of Object.entries(stored.seqs)) book.#seqs.set(match, seq);
    for (const [match, at] of Object.entries(stored.published)) book.#published.set(match, at);
    for (const [match, offers] of Object.entries(stored.offers))
      book.offers.set(match, new Map(offers.map((offer) => [marketKey(offer.market, offer.specifiers), offer])));
    return book;
  }

  #of(match: string): Offers {
    const found = this.offers.get(match) ?? new Map<string, Offer>();
    this.offers.set(match, found);
    return found;
  }
}

/** The name of a market within its match. */
function marketKey(market: number, specifiers: string): string {
  return `${market}:${specifiers}`;
}

function mention(match: string, market: number, specifiers: string): string {
  return `${match}/${marketKey(market, specifiers)}`;
}

type MarketFrame = Extract<Frame, { type: `market.${string}` }>;

function isMarket(frame: Frame): frame is MarketFrame {
  return frame.type.startsWith("market.");
}

/** The same market in another state. */
function restated({ market, specifiers, at }: Offer, state: State, now = at): Offer {
  return { market, specifiers, at: now, state };
}

function close(offers: Offers, which: (offer: Offer) => boolean, at?: number): void {
  for (const [key, offer] of offers) if (which(offer)) offers.set(key, restated(offer, "closed", at));
}

/** The markets that a message is about, and what it says of each. */
function news(message: MatchMessage): Offer[] {
  const at = message.timestamp;
  const told = (market: { id: number; specifiers?: string }, state: State): Offer => ({
    market: market.id,
    specifiers: market.specifiers ?? "",
    at,
    state,
  });
  switch (message.kind) {
    case "odds_change":
      return message.odds.market.map((market) => {
        const odds = price(market);
        if (odds !== undefined) return { ...told(market, "open"), odds };
        return told(market, market.status === MarketStatus.SUSPENDED ? "suspended" : "closed");
      });
    case "bet_settlement":
      return message.outcomes.market.map((market) => told(market, "closed"));
    case "bet_cancel":
      return message.end_time === undefined ? message.market.map((market) => told(market, "closed")) : [];
    case "rollback_bet_settlement":
      return message.market.map((market) => told(market, "suspended"));
    case "rollback_bet_cancel":
      return message.end_time === undefined ? message.market.map((market) => told(market, "suspended")) : [];
    default:
      return [];
  }
}

function price(market: OddsMarket): number | undefined {
  return market.status === MarketStatus.ACTIVE ? market.outcome[0]?.odds : undefined;
}

function held(offer: Offer): HeldMarket {
  return offer.odds === undefined
    ? [offer.market, offer.specifiers, -1, null]
    : [offer.market, offer.specifiers, 1, offer.odds];
}
