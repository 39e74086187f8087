// Against the example of docs/ledger.md.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ClientError, prove, type Settlement } from "matchfeed-client";

const EXAMPLE = new URL("../../../../../docs/ledger-example/", import.meta.url);
const KEY = "4cb5abf6ad79fbf5abbccafcc269d85cd2651ed4b885b5869f241aedf0a5ba29";
type Row = { day: string; index: number; hash: string; leaf?: string };

function file(name: string): { data: any[] } {
  return JSON.parse(readFileSync(new URL(name, EXAMPLE), "utf-8")) as { data: any[] };
}

function node(hashes: readonly string[]): string {
  const bytes = hashes.map((hash) => Buffer.from(hash, "hex"));
  return createHash("sha256").update(Buffer.concat([Buffer.of(1), ...bytes])).digest("hex");
}

/** The root of the hashes, and the path from the one at `index`, if it is one of them. */
function tree(hashes: readonly string[], index: number): { root: string; path: string[] } {
  const [first = ""] = hashes;
  if (hashes.length === 1) return { root: first, path: [] };
  const half = 2 ** Math.ceil(Math.log2(hashes.length) - 1);
  const left = tree(hashes.slice(0, half), index);
  const right = tree(hashes.slice(half), index - half);
  const path = index < half ? [...left.path, right.root] : [...right.path, left.root];
  return { root: node([left.root, right.root]), path };
}

/** The API, answering from the example, in which `alter` has changed something. */
function answering(alter: (heads: any[], leaves: Row[]) => void = () => undefined) {
  const heads = file("heads.json").data;
  const leaves: Row[] = ["02", "03", "04"].flatMap((day) => file(`leaves-2031-04-${day}.json`).data as Row[]);
  alter(heads, leaves);
  const get = async (path: string, query: Record<string, string | number | undefined> = {}): Promise<any> => {
    const rows = leaves.filter((row) => row.day === query["day"]);
    if (path.endsWith("heads")) return { data: heads.filter((head) => head.number > Number(query["after"])) };
    if (path.endsWith("leaves")) return { data: rows.slice(Number(query["from"])) };
    const hashes = rows.slice(0, Number(query["size"])).map((row) => row.hash);
    return { data: tree(hashes, Number(query["index"])) };
  };
  return { get };
}

const settlements = file("settlements.json").data as Settlement[];
const inTree = settlements.filter((each) => each.id > 2 && Number.isSafeInteger(each.id));
const [won] = inTree as [Settlement];

test("every settlement of the example is proved", async () => {
  for (const settlement of inTree) assert.ok(await prove(answering(), settlement, KEY));
  const proof = await prove(answering(), won, KEY);
  assert.deepEqual([proof?.day, proof?.index, proof?.number], ["2031-04-02", 1, 2]);
});

test("what no head covers is not proved yet", async () => {
  assert.equal(await prove(answering((heads) => heads.splice(1)), won, KEY), undefined);
});

const refusals: [string, Settlement, Parameters<typeof answering>[0], RegExp][] = [
  ["another result", { ...won, outcome: "lost" }, undefined, /another outcome/],
  ["another time", { ...won, created_at: "2031-04-02T01:00:03+00:00" }, undefined, /another time/],
  ["one from before the ledger", { ...won, id: 2 }, undefined, /older than the ledger/],
  ["a head of another key", won, (heads) => (heads[1].signatures = heads[0].signatures), /not signed/],
  ["a head that was rewritten", won, (heads) => (heads[0].head = heads[0].head.replace("hour", "day")), /not signed/],
  ["a head that is missing", won, (heads) => heads.shift(), /missing/],
  ["a leaf that is missing", won, (_, leaves) => leaves.splice(1, 1), /no leaf|missing/],
  ["another leaf before it", won, (_, leaves) => (leaves[0]!.hash = "ab".repeat(32)), /root/],
  ["a leaf that was rewritten", won, (_, leaves) => (leaves[1]!.leaf = leaves[1]!.leaf!.replace("[43]", "[44]")), /rests_on/],
];

for (const [what, settlement, alter, text] of refusals) {
  test(`it refuses ${what}`, async () => {
    const refused = (error: Error) => error instanceof ClientError && text.test(error.message);
    await assert.rejects(prove(answering(alter), settlement, KEY), refused);
  });
}
