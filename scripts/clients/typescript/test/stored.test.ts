import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Book, ClientError, Feed, Pages, Results } from "matchfeed-client";
import { oddsChange } from "./feed-messages.js";

const NOWHERE = "http://127.0.0.1:9";

function stored(source: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "matchfeed-")), "client.json");
  const book = new Book();
  book.beginRecovery("7");
  book.receive(oddsChange(10, [[13, "map=1", 1, 1.85]], 'request_id="7"'), 5, 0, 1000);
  writeFileSync(path, JSON.stringify({ source, book, results: new Results(), since: 5 }));
  return path;
}

test("after a restart nothing of a queue is open until it is recovered", () => {
  const feed = new Feed("amqp://127.0.0.1:9", NOWHERE, "", { saved: stored("queue") });
  assert.deepEqual(feed.book.digest().matches[0]?.markets, [[13, "map=1", -1, null]]);
});

test("after a restart nothing of changes is open until what was missed has come, then what did not change is", () => {
  const pages = new Pages(NOWHERE, "", { saved: stored("changes") });
  assert.deepEqual([...pages.book.open()], []);
  pages.book.stale = false;
  assert.equal([...pages.book.open()].length, 1);
});

test("a file of another channel is refused", () => {
  assert.throws(() => new Pages(NOWHERE, "", { saved: stored("queue") }), ClientError);
});
