// Markets as rows: one for each group of markets, with a line for each total, handicap or target of it, and the
// sides of a line beside each other. No element is touched here.

import { specifiers } from "./state.js";

const SCOPES = ["round", "map", "match"];
/** Specifiers by which the lines of one row differ. */
const POINTS = ["threshold", "handicap", "target"];
/** What a market is of its group, by its type: a name among the words. Those of a team or a player have its name. */
const SIDES = {
  3: "over", 4: "under", 8: "over", 9: "under", 10: "yes", 15: "yes", 16: "yes", 17: "yes", 18: "by_defuse", 19: "over",
  20: "under", 21: "by_bomb", 23: "level", 25: "over", 26: "under", 27: "odd", 28: "even", 29: "by_time", 30: "by_elimination",
  31: "no", 32: "no", 33: "no", 34: "no", 35: "each", 36: "over", 37: "under",
  38: "player", 39: "player", 40: "several",
};

/** Rows of a match's markets, by where they are: sections with the present round first, then maps, then the match. */
export function sections(offers) {
  const found = new Map();
  for (const offer of offers) {
    const says = specifiers(offer.specifiers);
    const scope = says.round ? "round" : says.map ? "map" : "match";
    const place = [SCOPES.indexOf(scope), String(says.map ?? "").padStart(2, "0"), String(says.round ?? "").padStart(3, "0")].join("/");
    if (!found.has(place)) found.set(place, { place, scope, number: says[scope], rows: new Map() });
    const { rows } = found.get(place), { kind, name } = row(offer, says);
    if (!rows.has(name)) rows.set(name, { name, kind, says, lines: new Map() });
    const { lines } = rows.get(name), line = offer.group || offer.market_offer_id;
    if (!lines.has(line)) lines.set(line, { name: line, point: point(offer, says), offers: [] });
    lines.get(line).offers.push({ offer, says });
  }
  return [...found.values()].sort(by((each) => each.place)).map((each) => ({ ...each, rows: ordered(each.rows) }));
}

/** What a market is of its group: a name among the words, or a text as it is. */
export function side(offer, says, match) {
  if (says.home_maps) return `${says.home_maps}:${says.away_maps}`;
  const named = SIDES[offer.id];
  if (named) return named;
  return says.team === "home" ? match.team_a : says.team === "away" ? match.team_b : "yes";
}

/** The kind of a market's group, and the name of its row: the group without what its lines differ by. */
function row(offer, says) {
  const whole = offer.group || offer.market_offer_id; // one that is priced alone has no group
  const kind = whole.split(":", 1)[0];
  const rest = whole.slice(kind.length + 1).split("|").filter((part) => !POINTS.includes(part.split("=")[0]));
  const team = says.threshold && says.team ? `team=${says.team}` : "";
  return { kind, name: [kind, ...rest, team].join("|") };
}

/** The number of a line; a handicap is that of the first team. */
function point(offer, says) {
  if (says.handicap === undefined) return Number(says.threshold ?? says.target ?? NaN);
  return Number(says.handicap) * (says.team === "away" ? -1 : 1);
}

function ordered(rows) {
  return [...rows.values()].map((each) => ({ ...each, lines: lined(each.lines) })).sort(by(first));
}

/** Rows stand in the order of their market types: a winner first. */
const first = (each) => String(Math.min(...each.lines.flatMap((line) => line.offers.map(({ offer }) => offer.id)))).padStart(4, "0") + each.name;

function lined(lines) {
  const sorted = [...lines.values()].sort((a, b) => a.point - b.point || 0);
  for (const { offers } of sorted) offers.sort(by(({ offer, says }) => `${says.team === "away" ? 1 : 0}${String(offer.id).padStart(4, "0")}`));
  return sorted;
}

function by(key) {
  return (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
}
