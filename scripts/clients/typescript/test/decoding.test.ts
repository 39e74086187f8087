import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, DecodingError } from "matchfeed-client";
import { message } from "./feed-messages.js";

const ABOUT = 'product="2" event_id="od:match:1" timestamp="5"';

function bytes(xml: string): Uint8Array {
  return new TextEncoder().encode(xml);
}

test("text is what it stands for", () => {
  const market = `<market id="1" specifiers="a=&quot;&lt;Ж&gt;&amp;'" void_reason_id="3"/>`;
  const found = message(`<?xml version="1.0" encoding="UTF-8"?><bet_cancel ${ABOUT}>${market}</bet_cancel>`);
  assert.equal(found.kind === "bet_cancel" && found.market[0]?.specifiers, `a="<Ж>&'`);
});

test("what a later version adds is passed over", () => {
  const odds = `<odds more="1"><market id="1" status="1"><later/><outcome id="1" odds="1.5" active="1"/></market></odds>`;
  const found = message(`<odds_change later="1" ${ABOUT}><later><odds/></later>${odds}</odds_change>`);
  const market = { id: 1, status: 1, outcome: [{ id: "1", odds: 1.5, active: true }] };
  assert.deepEqual(found.kind === "odds_change" && found.odds.market, [market]);
  assert.equal(decode(bytes("<new_kind><more/></new_kind>")), undefined);
  assert.equal(decode(bytes("<constructor/>")), undefined);
});

const WRONG = [
  "",
  "no XML",
  `<fixture_change ${ABOUT} change_type="1">`,
  `<fixture_change ${ABOUT}/>`,
  `<fixture_change ${ABOUT} change_type="2"/>`,
  `<fixture_change ${ABOUT} change_type="1" change_type="3"/>`,
  `<odds_change ${ABOUT}/>`,
  `<odds_change ${ABOUT}><odds/><odds/></odds_change>`,
  `<bet_settlement ${ABOUT}><outcomes/></bet_settlement>`,
  `<alive product="2" timestamp="1.5" subscribed="1"/>`,
  `<alive product="2" timestamp="99999999999999999999" subscribed="1"/>`,
  `<alive product="2" timestamp="1" subscribed="yes"/>`,
  `<!DOCTYPE alive><alive product="2" timestamp="1" subscribed="1"/>`,
];

for (const xml of WRONG) {
  test(`it refuses ${xml || "nothing"}`, () => assert.throws(() => decode(bytes(xml)), DecodingError));
}

test("it refuses what is no UTF-8", () => {
  assert.throws(() => decode(new Uint8Array([0x3c, 0xff])), DecodingError);
});
