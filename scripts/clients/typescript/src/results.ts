// What the bets of every market are to be paid by, once each, whatever comes twice, late or again.

import { MarketStatus, type Message, Result as Code } from "./messages/index.js";
import type { Frame, Settlement } from "./rest.js";

export type Status = "pending" | "settled" | "voided";
export type Outcome = "won" | "lost";

/** Bets that were placed from `start` until `end` (Unix ms) are void, or no longer. `at`: which message said so. */
export interface Window {
  readonly start: number;
  readonly end: number;
  readonly at: number;
  readonly void: boolean;
}

/**
 * What holds of a market. `at` is the timestamp of the message that said so, or the `id` of the ledger's entry. `paid` counts
 * the settlements and refunds that were paid and not taken back: 0 or 1.
 */
export interface MarketResult {
  readonly match: string;
  readonly market: number;
  readonly specifiers: string;
  readonly at: number;
  readonly status: Status;
  readonly outcome: Outcome | null;
  readonly paid: number;
  readonly windows: readonly Window[];
}

/** Results as they are stored. */
export interface StoredResults {
  readonly lastId: number;
  readonly markets: MarketResult[];
}

type Market = { readonly id: number; readonly specifiers?: string };

/** `markets` has every market that ever had a result. */
export class Results {
  readonly markets = new Map<string, MarketResult>();
  /** The newest entry of the ledger that is known. */
  lastId = 0;

  /** Fold in a message that was applied to the book. */
  receive(message: Message): void {
    switch (message.kind) {
      case "bet_settlement":
        for (const market of message.outcomes.market) {
          const outcome = market.outcome[0]?.result === Code.WON ? "won" : "lost";
          this.#set(this.#of(message.event_id, market), message.timestamp, "settled", outcome);
        }
        break;
      case "bet_cancel":
        this.#void(message, true);
        break;
      case "rollback_bet_cancel":
        this.#void(message, false);
        break;
      case "rollback_bet_settlement":
        for (const market of message.market) this.#set(this.#of(message.event_id, market), message.timestamp, "pending");
        break;
      case "odds_change":
        if (message.request_id !== undefined) this.#reopen(message);
    }
  }

  #void(message: Message & { kind: "bet_cancel" | "rollback_bet_cancel" }, isVoid: boolean): void {
    const { event_id: match, timestamp: at, start_time: start, end_time: end } = message;
    for (const market of message.market) {
      const known = this.#of(match, market);
      if (start !== undefined && end !== undefined) this.#setWindow(known, { start, end, at, void: isVoid });
      else this.#set(known, at, isVoid ? "voided" : "pending");
    }
  }

  /** What a recovery lists as on offer has no result any more: its rollback may have been missed. */
  #reopen(message: Message & { kind: "odds_change" }): void {
    for (const market of message.odds.market) {
      const onOffer = market.status === MarketStatus.ACTIVE || market.status === MarketStatus.SUSPENDED;
      const known = this.markets.get(key(message.event_id, market));
      if (onOffer && known !== undefined) this.#set(known, message.timestamp, "pending");
    }
  }

  /** Fold in a frame; only those of type `bet_settlement` are about results. */
  fold(frame: Frame): void {
    if (frame.type === "bet_settlement") this.foldEntry(frame.data);
  }

  /** Fold in an entry of the ledger. */
  foldEntry(entry: Settlement): void {
    const market = { id: entry.market_id, specifiers: entry.specifiers };
    const window = entry.void_window;
    if (window !== undefined) {
      const { start_time: start, end_time: end } = window;
      this.#setWindow(this.#of(entry.match_urn, market), { start, end, at: entry.id, void: !window.rolled_back });
    }
    const outcome = entry.new_status === "settled" ? (entry.outcome as Outcome) : null;
    this.#set(this.#of(entry.match_urn, market), entry.id, entry.new_status, outcome);
    this.lastId = Math.max(this.lastId, entry.id);
  }

  #of(match: string, market: Market): MarketResult {
    const { id, specifiers = "" } = market;
    const none = { match, market: id, specifiers, at: 0, status: "pending", outcome: null, paid: 0, windows: [] } as const;
    return this.markets.get(key(match, market)) ?? none;
  }

  #set(known: MarketResult, at: number, status: Status, outcome: Outcome | null = null): void {
    if (at <= known.at) return;
    let paid = known.paid;
    if (status !== known.status || outcome !== known.outcome) {
      if (known.status !== "pending") paid -= 1; // what was paid by another result is taken back
      if (status !== "pending") paid += 1;
    }
    this.#put({ ...known, at, status, outcome, paid });
  }

  #setWindow(known: MarketResult, window: Window): void {
    const same = (each: Window) => each.start === window.start && each.end === window.end;
    if (known.windows.some((each) => same(each) && each.at >= window.at)) return;
    this.#put({ ...known, windows: [...known.windows.filter((each) => !same(each)), window] });
  }

  #put(result: MarketResult): void {
    this.markets.set(key(result.match, { id: result.market, specifiers: result.specifiers }), result);
  }

  /** The markets of which something holds: a result, or that some bets are void. */
  *standing(): Generator<MarketResult> {
    for (const result of this.markets.values())
      if (result.status !== "pending" || result.windows.some((window) => window.void)) yield result;
  }

  toJSON(): StoredResults {
    return { lastId: this.lastId, markets: [...this.markets.values()] };
  }

  static from(stored: StoredResults): Results {
    const results = new Results();
    results.lastId = stored.lastId;
    for (const result of stored.markets) results.#put(result);
    return results;
  }
}

function key(match: string, market: Market): string {
  return `${match}/${market.id}:${market.specifiers ?? ""}`;
}
