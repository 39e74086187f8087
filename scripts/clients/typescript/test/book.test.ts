import assert from "node:assert/strict";
import { test } from "node:test";
import { Book, type Frame, type Message } from "matchfeed-client";
import { complete, HOME, MATCH, message, oddsChange, settlement, withdrawal } from "./feed-messages.js";

const LATE = 1_000_000;

function receive(book: Book, message: Message, seq = 0, previous = 0): Message[] {
  return book.receive(message, seq, previous, LATE);
}

function recovered(): Book {
  const book = new Book();
  book.beginRecovery("7");
  receive(book, oddsChange(10, [[13, HOME, 1, 1.85]], 'request_id="7"'), 5);
  receive(book, complete(11, "7"));
  return book;
}

function shown(book: Book): unknown[] {
  return [...book.open()].map(({ market, odds }) => [market, odds]);
}

function state(book: Book): string | undefined {
  return book.offers.get(MATCH)?.get(`13:${HOME}`)?.state;
}

test("a recovery makes the book complete", () => {
  const book = recovered();
  assert.deepEqual(shown(book), [[13, 1.85]]);
  assert.deepEqual([book.recovery, book.due, book.after], ["", false, 11]);
});

test("an older message changes nothing", () => {
  const book = recovered();
  receive(book, oddsChange(20, [[13, HOME, 1, 2]]), 6, 5);
  receive(book, oddsChange(15, [[13, HOME, 1, 3]]), 6, 5);
  assert.deepEqual(shown(book), [[13, 2]]);
});

test("a settlement ends the offer, a rollback suspends it", () => {
  const book = recovered();
  receive(book, settlement(20, 1), 6, 5);
  assert.equal(state(book), "closed");
  receive(book, withdrawal("rollback_bet_settlement", 21), 7, 6);
  assert.equal(state(book), "suspended");
});

test("a void of some bets leaves the offer", () => {
  const book = recovered();
  receive(book, withdrawal("bet_cancel", 20, 'start_time="1" end_time="5"'), 6, 5);
  assert.equal(state(book), "open");
  receive(book, withdrawal("bet_cancel", 21), 7, 6);
  assert.equal(state(book), "closed");
});

test("a gap suspends its match, and sets the place back to what was had of it", () => {
  const book = recovered();
  receive(book, message(`<fixture_change product="2" event_id="od:match:2" timestamp="500" change_type="1"/>`));
  assert.equal(book.after, 500);
  receive(book, oddsChange(600, [[14, "map=1", 1, 3]]), 9, 8);
  assert.deepEqual([shown(book), book.due, book.after], [[], true, 10]);
});

test("bet_stop suspends what is not over, and its loss is no gap", () => {
  const book = recovered();
  const about = 'groups="all" market_status="-1"';
  receive(book, message(`<bet_stop product="2" event_id="${MATCH}" timestamp="20" ${about}/>`), 6, 5);
  assert.equal(state(book), "suspended");
  receive(book, oddsChange(21, [[13, HOME, 1, 2]]), 7, 5);
  assert.equal(book.due, false);
});

test("alive with subscribed=0 suspends everything", () => {
  const book = recovered();
  receive(book, message('<alive product="2" timestamp="20" subscribed="0"/>'));
  assert.deepEqual([shown(book), book.due], [[], true]);
});

test("live messages wait for the end of a recovery, their match suspended", () => {
  const book = recovered();
  book.beginRecovery("8");
  const live = oddsChange(30, [[13, HOME, 1, 3]]);
  assert.deepEqual(receive(book, live, 6, 5), []);
  assert.equal(state(book), "suspended");
  receive(book, oddsChange(25, [[13, HOME, 1, 2]], 'request_id="8"'), 5);
  assert.deepEqual(receive(book, complete(31, "9")), []);
  const applied = receive(book, complete(31, "8"));
  assert.deepEqual(applied.slice(1), [live]);
  assert.deepEqual(shown(book), [[13, 3]]);
});

test("what a recovery does not list is closed, and a match that it does not replay", () => {
  const book = recovered();
  book.beginRecovery("8");
  receive(book, oddsChange(40, [[14, "map=1", 1, 3]], 'request_id="8"'), 6);
  receive(book, complete(41, "8"));
  assert.deepEqual(shown(book), [[14, 3]]);
  book.beginRecovery("9");
  receive(book, complete(51, "9"));
  assert.deepEqual(shown(book), []);
});

test("a recovery of another process changes nothing", () => {
  const book = recovered();
  receive(book, oddsChange(40, [[13, HOME, -1]], 'request_id="424242"'), 6);
  assert.deepEqual(shown(book), [[13, 1.85]]);
});

test("the place is never later than our clock", () => {
  const book = recovered();
  book.receive(oddsChange(5000, [[13, HOME, 1, 2]]), 6, 5, 4000);
  assert.equal(book.after, 4000);
});

test("a stored book is what it was, and a recovery is due", () => {
  const book = Book.from(JSON.parse(JSON.stringify(recovered())));
  assert.deepEqual([shown(book), book.due, book.after], [[[13, 1.85]], true, 11]);
  book.suspend();
  assert.deepEqual(book.digest().matches, [{ match: MATCH, seq: 5, markets: [[13, HOME, -1, null]] }]);
});

function market(id: number, status: string, seq: number, snapshot?: true): Frame {
  const meta = { ts: "2031-04-02T18:00:00.125Z", seq, hash: "", ...(snapshot && { snapshot }) };
  const data = { id, specifiers: HOME, status, odds: 1.5, match_id: "m", market_offer_id: "", suspended: false };
  return { type: "market.updated", data: { ...data, group: "", priced_at: null }, meta };
}

function alive(seq: number, snapshot: boolean): Frame {
  return { type: "alive", data: {}, meta: { ts: "2031-04-02T18:00:01Z", seq, hash: "", snapshot } } as unknown as Frame;
}

test("the end of a snapshot closes what it did not contain", () => {
  const book = new Book();
  for (const frame of [market(13, "active", 1), market(14, "active", 2)]) book.fold(frame);
  book.beginSnapshot();
  book.fold(market(14, "active", 3, true));
  assert.deepEqual(shown(book), [[13, 1.5], [14, 1.5]]);
  book.fold(alive(4, true));
  assert.deepEqual(shown(book), [[14, 1.5]]);
});

test("a stale book offers nothing", () => {
  const book = new Book();
  book.fold(market(13, "active", 1));
  book.stale = true;
  assert.deepEqual(shown(book), []);
});
