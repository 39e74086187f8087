// That a settlement is in the signed ledger, by the rules of docs/ledger.md. Who stores nothing can check this much; to find
// what was removed or rewritten, verify the whole ledger as that page says.

import { createHash, createPublicKey, verify } from "node:crypto";
import type { components } from "./api.js";
import { ClientError, type Rest, type Settlement } from "./rest.js";

type Schemas = components["schemas"];
type HeadView = Schemas["HeadView"];
/** A text's fields; whole numbers that are not exact here are texts. */
type Fields = Readonly<Record<string, unknown>>;

const PAGE = 1000;
const ROTATIONS = ["rotation", "new_key"];

/** What was proved: the settlement is the leaf `index` of the tree of `day`, under the head `number`. */
export interface Proof {
  readonly day: string;
  readonly index: number;
  readonly leaf: string;
  readonly number: number;
}

/**
 * Prove that the ledger has the settlement, as you received it, under a head that was signed by `publicKey` (64 hexadecimal
 * digits: the ledger's first key, which you have from the portal) or by a key that it has handed over to. Throws `ClientError`
 * for what is not so; undefined: no head covers the settlement yet.
 */
export async function prove(rest: Pick<Rest, "get">, settlement: Settlement, publicKey: string): Promise<Proof | undefined> {
  let before: Fields | undefined;
  for await (const head of heads(rest, publicKey)) {
    if (BigInt(head["through"] as string) >= BigInt(settlement.id)) {
      ensure(before !== undefined, "the settlement is older than the ledger");
      const from = before["day"] === head["day"] ? (before["size"] as number) : 0;
      return leafOf(rest, settlement, head, from);
    }
    before = head;
  }
  return undefined;
}

/** The heads in order, each checked with the ones before it. */
async function* heads(rest: Pick<Rest, "get">, publicKey: string): AsyncGenerator<Fields> {
  let [number, previous, key] = [0, "0".repeat(64), publicKey];
  for (;;) {
    const page = await rest.get<Schemas["Many_HeadView"]>("/v1/ledger/heads", { after: number, limit: PAGE });
    if (page.data.length === 0) return;
    for (const view of page.data) {
      const head = fieldsOf(view.head);
      number += 1;
      ensure(view.number === number && head["number"] === number, `head ${number} is missing`);
      ensure(head["previous"] === previous, `head ${number} does not follow the one before it`);
      ensure(signed(view, key), `head ${number} is not signed by the key ${idOf(key)}`);
      ensure(head["kind"] !== "new_key", `head ${number} says that the key was lost: ask for the new one`);
      const next = head["next_key"];
      ensure((next !== null) === ROTATIONS.includes(String(head["kind"])), `head ${number} has a key without need`);
      if (typeof next === "string") {
        ensure(signed(view, next), `head ${number} is not signed by the key that it names`);
        key = next;
      }
      previous = hex(sha256(Buffer.from(view.head)));
      yield head;
    }
  }
}

async function leafOf(rest: Pick<Rest, "get">, settlement: Settlement, head: Fields, from: number): Promise<Proof> {
  const [day, size] = [String(head["day"]), head["size"] as number];
  for (let at = from; at < size; ) {
    const { data } = await rest.get<Schemas["Many_LeafView"]>("/v1/ledger/leaves", { day, from: at, limit: PAGE });
    ensure(data.length > 0, `leaves of ${day} are missing`);
    for (const { index, leaf } of data) {
      if (leaf === undefined || fieldsOf(leaf)["id"] !== settlement.id) continue;
      ensure(index < size, "the leaf is behind the head that covers it");
      compare(settlement, fieldsOf(leaf));
      const query = { day, index, size };
      const { data: proof } = await rest.get<Schemas["Single_InclusionProofView"]>("/v1/ledger/inclusion", query);
      const hash = sha256(Buffer.concat([Buffer.of(0), Buffer.from(leaf)]));
      ensure(rootOf(hash, index, size, proof.path) === head["root"], "the proof does not lead to the root of the head");
      return { day, index, leaf, number: head["number"] as number };
    }
    at += data.length;
  }
  throw new ClientError(`the ledger has no leaf of settlement ${settlement.id}`);
}

/** Require that the leaf says what the settlement says. */
function compare(settlement: Settlement, leaf: Fields): void {
  const { void_window: window, created_at: created } = settlement;
  const voids = window?.rolled_back ? "rollback_bet_cancel" : "bet_cancel";
  const rollback = settlement.previous_status === "settled" ? "rollback_bet_settlement" : "rollback_bet_cancel";
  const message = { settled: "bet_settlement", voided: "bet_cancel", pending: rollback }[settlement.new_status];
  const second = Math.floor(Number(leaf["timestamp"]) / 1000) * 1000;
  const expected: Fields = {
    ...{ id: settlement.id, match_id: settlement.match_id, match_urn: settlement.match_urn },
    ...{ market_offer_id: settlement.market_offer_id, market_id: settlement.market_id },
    ...{ specifiers: settlement.specifiers, previous_status: settlement.previous_status },
    ...{ new_status: settlement.new_status, outcome: settlement.outcome, settled_by: settlement.settled_by },
    ...{ reason: settlement.reason, is_resettlement: settlement.is_resettlement, rests_on: settlement.rests_on },
    ...{ void_reason_id: settlement.void_reason_id ?? null, message: window === undefined ? message : voids },
    ...{ void_from: window?.start_time ?? null, void_until: window?.end_time ?? null },
  };
  for (const [name, value] of Object.entries(expected))
    ensure(JSON.stringify(leaf[name]) === JSON.stringify(value), `the leaf has another ${name}`);
  ensure(created !== null && Date.parse(created) === second, "the leaf has another time");
}

/** The root to which a path of inclusion leads (RFC 9162, 2.1.3.2); undefined if it fits no tree of this size. */
function rootOf(leafHash: Buffer, index: number, size: number, path: readonly string[]): string | undefined {
  let [hash, node, last] = [leafHash, index, size - 1];
  for (const digits of path) {
    if (last === 0) return undefined;
    const other = Buffer.from(digits, "hex");
    const right = node % 2 === 1 || node === last;
    hash = sha256(Buffer.concat(right ? [Buffer.of(1), other, hash] : [Buffer.of(1), hash, other]));
    while (right && node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 ? hex(hash) : undefined;
}

/** Whether the head has a right signature of this key. */
function signed(view: HeadView, publicKey: string): boolean {
  const signature = view.signatures.find((each) => each.key_id === idOf(publicKey));
  const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey, "hex").toString("base64url") };
  const key = createPublicKey({ key: jwk, format: "jwk" });
  return signature !== undefined && verify(null, Buffer.from(view.head), key, Buffer.from(signature.signature, "hex"));
}

function idOf(publicKey: string): string {
  return hex(sha256(Buffer.from(publicKey, "hex"))).slice(0, 16);
}

/** The fields of a leaf or a head. */
function fieldsOf(text: string): Fields {
  const exact = text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}/g, (found) => (found.startsWith('"') ? found : `"${found}"`));
  const fields = JSON.parse(exact) as Fields;
  ensure(fields["version"] === 1, `this client is too old for version ${String(fields["version"])} of the ledger`);
  return fields;
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function hex(bytes: Buffer): string {
  return bytes.toString("hex");
}

function ensure(isTrue: boolean, text: string): asserts isTrue {
  if (!isTrue) throw new ClientError(text);
}
