import assert from "node:assert/strict";
import { test } from "node:test";
import { Results, type Message, type Settlement } from "matchfeed-client";
import { HOME, MATCH, oddsChange, settlement, withdrawal } from "./feed-messages.js";

function after(...messages: Message[]): Results {
  const results = new Results();
  for (const message of messages) results.receive(message);
  return results;
}

function shown(results: Results): unknown[] {
  return [...results.standing()].map(({ status, outcome, paid, windows }) => {
    return [status, outcome, paid, ...windows.filter((window) => window.void).map(({ start, end }) => [start, end])];
  });
}

const WINDOW = 'start_time="1" end_time="5"';

test("a bet is settled once, whatever comes twice or late", () => {
  assert.deepEqual(shown(after(settlement(20, 1), settlement(20, 1), settlement(10, 0))), [["settled", "won", 1]]);
});

test("a rollback takes the payment back, and a second result is paid once", () => {
  const rollback = withdrawal("rollback_bet_settlement", 21);
  assert.deepEqual(shown(after(settlement(20, 1), rollback)), []);
  assert.deepEqual(shown(after(settlement(20, 1), rollback, settlement(22, 0))), [["settled", "lost", 1]]);
});

test("a replayed result replaces the older one, without the rollback", () => {
  assert.deepEqual(shown(after(settlement(20, 1), settlement(22, 0, 'request_id="7"'))), [["settled", "lost", 1]]);
});

test("a void refunds, and ends a settlement", () => {
  assert.deepEqual(shown(after(settlement(20, 1), withdrawal("bet_cancel", 21))), [["voided", null, 1]]);
  assert.deepEqual(shown(after(withdrawal("bet_cancel", 21), withdrawal("rollback_bet_cancel", 22))), []);
});

test("a void window is of bets, not of the market", () => {
  const settled = after(settlement(20, 1), withdrawal("bet_cancel", 21, WINDOW));
  assert.deepEqual(shown(settled), [["settled", "won", 1, [1, 5]]]);
  const other = withdrawal("bet_cancel", 22, 'start_time="2" end_time="9"');
  const windows = after(withdrawal("bet_cancel", 21, WINDOW), other, withdrawal("rollback_bet_cancel", 23, WINDOW));
  assert.deepEqual(shown(windows), [["pending", null, 0, [2, 9]]]);
});

test("what a recovery lists as on offer has no result", () => {
  const suspended = [[13, HOME, -1]] as const;
  assert.deepEqual(shown(after(settlement(20, 1), oddsChange(30, suspended, 'request_id="7"'))), []);
  assert.deepEqual(shown(after(settlement(20, 1), oddsChange(30, suspended))), [["settled", "won", 1]]);
});

test("the ledger is folded by its ids", () => {
  const entry = {
    ...{ id: 8, match_urn: MATCH, market_id: 13, specifiers: HOME, new_status: "settled", outcome: "won" },
    void_window: { start_time: 1, end_time: 5, rolled_back: false },
  } as unknown as Settlement;
  const results = new Results();
  results.foldEntry(entry);
  results.foldEntry({ ...entry, id: 7, outcome: "lost" });
  assert.deepEqual([shown(results), results.lastId], [[["settled", "won", 1, [1, 5]]], 8]);
});

test("stored results are what they were", () => {
  const results = after(settlement(20, 1), withdrawal("bet_cancel", 21, WINDOW));
  const loaded = Results.from(JSON.parse(JSON.stringify(results)));
  assert.deepEqual(loaded.toJSON(), results.toJSON());
});
