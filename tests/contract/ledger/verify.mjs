// Verifies answers about the signed ledger by docs/ledger.md: another JSON parser, another Ed25519, ids of 64 bits
// in a language that has doubles. Prints what it has verified, or throws.
import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";

const [, , directory] = process.argv;
const sha = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
// Whole numbers become BigInt: doubles would lose digits of ids.
const TOKEN = /("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?)/g;
const mark = (_, string, number) => string ?? (number.includes(".") ? number : `"#${number}"`);
const read = (_, value) => (/^#-?\d+$/.test(value) ? BigInt(value.slice(1)) : value);
const parsed = (text) => JSON.parse(text.replace(TOKEN, mark), read);
const rows = (name) => parsed(readFileSync(`${directory}/${name}`, "utf8")).data;
const hex = (text) => Buffer.from(text, "hex");

function root(hashes) {
  if (hashes.length < 2) return hashes[0] ?? sha();
  let half = 1;
  while (half * 2 < hashes.length) half *= 2;
  return sha("\x01", root(hashes.slice(0, half)), root(hashes.slice(half)));
}

function signed({ head, signatures }, key) {
  const x = hex(key).toString("base64url");
  const found = signatures.find((one) => one.key_id === sha(hex(key)).toString("hex").slice(0, 16));
  const public_key = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x } });
  return verify(null, Buffer.from(head), public_key, hex(found.signature));
}

const prices = rows("prices.json");
const settlements = new Map(rows("settlements.json").map((row) => [row.id, row]));
const files = readdirSync(directory).filter((name) => name.startsWith("leaves")).sort();
const days = new Map(files.map((name) => [name.slice("leaves-".length, -".json".length), rows(name)]));
let key = rows("keys.json")[0].public_key;
let previous = "0".repeat(64);
const heads = rows("heads.json");
for (const view of heads) {
  const head = parsed(view.head);
  assert.equal(sha(view.head).toString("hex"), view.hash);
  assert.equal(head.previous, previous);
  assert(signed(view, key));
  key = head.next_key ?? key;
  assert(signed(view, head.next_key ?? key));
  const hashes = days.get(head.day).slice(0, Number(head.size)).map((row) => hex(row.hash));
  assert.equal(root(hashes).toString("hex"), head.root);
  previous = view.hash;
}
let [count, shown, digests] = [0, 0, 0];
previous = "0".repeat(64);
for (const row of [...days.values()].flat()) {
  count++;
  if (row.leaf) {
    const leaf = parsed(row.leaf);
    assert.equal(sha("\x00", row.leaf).toString("hex"), row.hash);
    assert.equal(leaf.previous, previous);
    assert.equal(leaf.outcome, settlements.get(leaf.id).outcome);
    if (row.price_salt) {
      const lines = prices
        .filter((one) => one.market_offer_id === leaf.market_offer_id)
        .filter((one) => one.seq >= leaf.prices.first_seq && one.seq < leaf.id)
        .map((one) => `${one.seq} ${one.timestamp} ${one.status} ${Math.round(Number(one.odds ?? 0) * 1000)}\n`);
      assert.equal(sha(hex(row.price_salt), sha(lines.join(""))).toString("hex"), leaf.prices.digest);
      digests++;
    }
    shown++;
  }
  previous = row.hash;
}
console.log(`${heads.length} heads, ${count} leaves, ${shown} shown, ${digests} digests`);
