// What a client generated for TypeScript does first. Needs MATCHFEED_URL, MATCHFEED_KEY and MATCHFEED_SLOW_KEY, a key with
// a few requests a minute.

import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Refused = components["schemas"]["Refused"];
type Problem = components["schemas"]["Problem"];
type HeldMarket = components["schemas"]["HeldMarket"];
type Client = ReturnType<typeof clientOf>;

const NODE = "72";
const PATIENCE_MILLIS = 120_000;

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

function clientOf(key: string) {
  return createClient<paths, "application/json">({
    baseUrl: setting("MATCHFEED_URL"),
    headers: { "X-API-Key": key },
  });
}

// The data of an answer; throws with the typed refusal that came instead.
function expect<T>(answer: { data?: T; error?: Refused | Problem; response: Response }): T {
  if (answer.data === undefined) throw new Error(`${answer.response.status}: ${JSON.stringify(answer.error?.detail)}`);
  return answer.data;
}

async function until<T>(what: string, found: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MILLIS;
  for (;;) {
    const result = await found();
    if (result !== undefined) return result;
    if (Date.now() > deadline) throw new Error(`waited ${PATIENCE_MILLIS} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function readMatch(client: Client): Promise<string> {
  const listed = expect(await client.GET("/cs2/v1/matches", { params: { query: { status: "live", limit: 1 } } }));
  const urn = listed.data[0]?.urn;
  if (urn === undefined) throw new Error("no match is live");
  const params = { path: { match_id: urn } };
  const match = expect(await client.GET("/cs2/v1/matches/{match_id}", { params })).data;
  const markets = expect(await client.GET("/cs2/v1/matches/{match_id}/markets", { params })).data;
  console.log(`${match.team_a} - ${match.team_b}: ${markets.length} markets`);
  return urn;
}

// Three pages of the ledger, each from where the last one ended.
async function readSettlements(client: Client): Promise<void> {
  const ids: number[] = [];
  for (let page = 0; page < 3; page++) {
    const query = { since_id: ids.at(-1) ?? 0, limit: 5 };
    const entries = expect(await client.GET("/cs2/v1/settlements", { params: { query } })).data;
    ids.push(...entries.map((entry) => entry.id));
  }
  const ascending = ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? id));
  if (!ascending || ids.length !== 15) throw new Error(`entries repeat or are missing: ${ids}`);
  console.log(`settlements ${ids[0]} to ${ids.at(-1)}`);
}

async function readRefusals(client: Client, slow: Client): Promise<void> {
  const path = { match_id: "od:match:999999999" };
  const missing = await client.GET("/cs2/v1/matches/{match_id}", { params: { path } });
  report(404, missing.response, missing.error?.detail);
  const unknown = await clientOf("mfk_unknown").GET("/v1/whoami");
  report(403, unknown.response, unknown.error?.detail);
  const invalid = await client.GET("/cs2/v1/matches", { params: { query: { limit: 0 } } });
  const fields: Problem["detail"] = invalid.error?.detail ?? [];
  if (typeof fields === "string") throw new Error(`no fields are named: ${fields}`);
  report(422, invalid.response, fields.map((field) => field.loc.join(".")).join());
  const limited = await until("429", async () => {
    const answer = await slow.GET("/v1/whoami");
    return answer.response.status === 429 ? answer : undefined;
  });
  if (!(Number(limited.response.headers.get("Retry-After")) > 0)) throw new Error("429 without Retry-After");
  report(429, limited.response, limited.error?.detail);
}

function report(status: number, response: Response, detail: Problem["detail"] | undefined): void {
  if (response.status !== status || typeof detail !== "string") throw new Error(`expected ${status}: ${response.status}`);
  console.log(`${status}: ${detail}`);
}

// A full recovery; while another one of this node runs, the request is refused and made again.
async function recover(client: Client): Promise<void> {
  const number = `${Date.now()}000`;
  const query = { after: 0, request_id: number, node_id: NODE };
  const accepted = await until("a recovery is accepted", async () => {
    const answer = await client.POST("/cs2/v1/recovery/initiate_request", { params: { query } });
    return answer.response.status === 409 ? undefined : expect(answer);
  });
  const params = { path: { request_id: number }, query: { node_id: NODE } };
  const completed = await until("it is complete", async () => {
    const found = expect(await client.GET("/cs2/v1/recovery/{request_id}", { params })).data;
    return found.state === "completed" ? found : undefined;
  });
  console.log(`recovery ${accepted.data.request_id}: ${completed.state}`);
}

// A book of one match, as REST has it, is compared until both are of one moment.
async function compare(client: Client, urn: string): Promise<void> {
  const params = { path: { match_id: urn } };
  const compared = await until("both books are equal", async () => {
    const open = expect(await client.GET("/cs2/v1/matches/{match_id}/markets", { params })).data;
    const markets = open.map((each): HeldMarket => [each.id, each.specifiers, each.suspended ? -1 : 1, each.odds]);
    const body = { matches: [{ match: urn, markets }], complete: false };
    const found = expect(await client.POST("/cs2/v1/selfcheck", { body })).data;
    return found.count === 0 && open.length > 0 ? found : undefined;
  });
  console.log(`self-check: ${compared.markets} markets, ${compared.count} differences`);
}

const client = clientOf(setting("MATCHFEED_KEY"));
const who = expect(await client.GET("/v1/whoami")).data;
console.log(`${who.name}: ${who.scopes.length} scopes`);
const urn = await readMatch(client);
await readSettlements(client);
await readRefusals(client, clientOf(setting("MATCHFEED_SLOW_KEY")));
await recover(client);
await compare(client, urn);
