// A client that `matchfeed certify` runs: it reports its book and its results whenever they have changed.
//
//     matchfeed certify --channel amqp --client "node scripts/clients/typescript/dist/reporting.js"
//
// Copy what `Reporter` does into a client of your own; the rest is the client package as everybody uses it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Events, Feed, Pages, Stream } from "./index.js";

const PAUSE_MILLIS = 100;
const { name, version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf-8")) as {
  name: string;
  version: string;
};

type Client = Feed | Pages | Events | Stream;

/** Sends the book and the results, in the shapes that docs/certify.md describes. */
class Reporter {
  #reported = "";

  constructor(
    readonly client: Client,
    readonly address: string,
  ) {}

  async run(): Promise<never> {
    for (;;) {
      const report = this.#report();
      if (report !== this.#reported && (await this.#send(report))) this.#reported = report;
      await sleep(PAUSE_MILLIS);
    }
  }

  #report(): string {
    const { book, results } = this.client;
    const matches = book.stale ? [] : book.digest().matches;
    const rows = Array.from(results.standing(), ({ match, market, specifiers, status, outcome, paid, windows }) => {
      const void_windows = windows.filter((window) => window.void).map(({ start, end }) => [start, end]);
      return { match, market, specifiers, status, outcome, paid, void_windows };
    });
    return JSON.stringify({ name, version, matches, results: rows });
  }

  async #send(body: string): Promise<boolean> {
    const headers = { "Content-Type": "application/json" };
    try {
      return (await fetch(this.address, { method: "PUT", headers, body })).ok;
    } catch (error) {
      console.warn(`the report is sent again (${String(error)})`);
      return false;
    }
  }
}

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

function clientOf(channel: string): Client {
  const baseUrl = setting("CERTIFY_BASE_URL");
  const key = setting("CERTIFY_API_KEY");
  const saved = join(setting("CERTIFY_STATE"), "client.json");
  switch (channel) {
    case "amqp":
      return new Feed(setting("CERTIFY_AMQP_URL"), baseUrl, key, { exchange: setting("CERTIFY_EXCHANGE"), saved });
    case "http":
      return new Pages(baseUrl, key, { saved });
    case "events":
      return new Events(baseUrl, key, { saved });
    case "websocket":
      return new Stream(baseUrl, key, { saved });
    default:
      throw new Error(`there is no channel ${channel}`);
  }
}

async function follow(client: Client): Promise<void> {
  for await (const _ of client);
}

const client = clientOf(setting("CERTIFY_CHANNEL"));
process.on("SIGTERM", () => {
  client.save();
  process.exit(0);
});
await Promise.race([follow(client), new Reporter(client, setting("CERTIFY_REPORT_URL")).run()]);
