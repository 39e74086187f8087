// Messages of the feed, as they are published.

import { decode, type Message } from "matchfeed-client";

export const MATCH = "od:match:1";
export const HOME = "map=1|round=3|team=home";

export function message(xml: string): Message {
  const found = decode(new TextEncoder().encode(xml));
  if (found === undefined) throw new Error(`unknown: ${xml}`);
  return found;
}

type Market = readonly [id: number, specifiers: string, status: number, odds?: number];

export function oddsChange(at: number, markets: readonly Market[], about = ""): Message {
  const listed = markets.map(([id, specifiers, status, odds]) => {
    const outcome = odds === undefined ? "" : `<outcome id="1" odds="${odds}" active="1"/>`;
    return `<market id="${id}" specifiers="${specifiers}" status="${status}">${outcome}</market>`;
  });
  return aboutMatch("odds_change", at, `<odds>${listed.join("")}</odds>`, about);
}

export function settlement(at: number, result: 0 | 1, about = ""): Message {
  const market = `<market id="13" specifiers="${HOME}"><outcome id="1" result="${result}"/></market>`;
  return aboutMatch("bet_settlement", at, `<outcomes>${market}</outcomes>`, about);
}

/** `bet_cancel` and both rollbacks. */
export function withdrawal(kind: string, at: number, about = ""): Message {
  const reason = kind === "bet_cancel" ? ' void_reason_id="1"' : "";
  return aboutMatch(kind, at, `<market id="13" specifiers="${HOME}"${reason}/>`, about);
}

export function complete(at: number, request: string): Message {
  return message(`<snapshot_complete product="2" timestamp="${at}" request_id="${request}"/>`);
}

function aboutMatch(kind: string, at: number, inner: string, about: string): Message {
  return message(`<${kind} product="2" event_id="${MATCH}" timestamp="${at}" ${about}>${inner}</${kind}>`);
}
