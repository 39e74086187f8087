// The state as elements.

import { clock, keep, make, text } from "./dom.js";
import { sections, side as sideOf } from "./groups.js";
import { specifiers } from "./state.js";
import { say } from "./words.js";

const $ = (id) => document.getElementById(id);

export function render(state, choose, prove) {
  for (const status of ["live", "upcoming", "finished"]) cards(state, status, choose);
  match(state);
  settlements(state, prove);
  report(state);
  envelopes(state);
}

function cards(state, status, choose) {
  const found = state.lists[status].map((id) => state.match(id)).filter(Boolean);
  keep(
    $(status), found, (each) => each.id,
    (each) => make("li", {}, make("button", { type: "button", onclick: () => choose(each.id) },
      make("span", { className: "name" }), make("b"), make("span", { className: "small" }))),
    (item, each) => {
      const [name, score, small] = item.firstChild.children;
      item.firstChild.setAttribute("aria-current", String(each.id === state.selected));
      text(name, `${each.team_a} – ${each.team_b}`);
      text(score, status === "upcoming" ? "" : rounds(each));
      text(small, details(state, each, status));
    },
  );
}

function rounds(match) {
  const play = playing(match);
  return play ? `${play.score_a}:${play.score_b}` : `${match.score_a}:${match.score_b}`;
}

function playing(match) {
  return match.maps?.find((play) => play.status === "live");
}

function details(state, match, status) {
  if (status === "upcoming") return [match.event, say("at", clock(match.scheduled_at))].join(" · ");
  if (status === "finished") return match.event;
  const why = state.standstill(match.id);
  return [
    match.map_name, match.scoreboard && say("round", match.scoreboard.round), phase(match.scoreboard),
    why ? `${say("suspended")}: ${why}` : say("prices", state.open(match.id)),
  ].filter(Boolean).join(" · ");
}

function phase(board) {
  if (!board) return "";
  if (board.phase !== "live") return say(board.phase);
  if (!board.started_at) return "";
  const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(board.started_at)) / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function match(state) {
  const found = state.match(state.selected);
  $("match").hidden = !found;
  if (!found) return;
  const play = playing(found), board = found.scoreboard;
  const lines = {
    a: [found.team_a, side(board?.side_a), board && "●".repeat(board.alive_a)],
    b: [found.team_b, side(board?.side_b), board && "●".repeat(board.alive_b)],
  };
  keep($("score"), ["a", "rounds", "b", "wide"], (each) => each,
    (each) => make("p", { className: each.length === 1 ? "team" : each }),
    (element, each) => {
      if (each === "rounds") text(element, rounds(found));
      else if (each === "wide") text(element, headline(found, play, board));
      else text(element, lines[each].filter(Boolean).join(" "));
    });
  const why = state.standstill(found.id);
  $("suspension").hidden = !why;
  text($("suspension"), why && say("wasOpen", why));
  keep($("ticker"), state.ticker(found.id), (each) => each.id, () => make("li"),
    (element, each) => text(element, fact(each, found)));
  offers(state, found);
}

function side(of) {
  return of && `(${of})`;
}

function headline(found, play, board) {
  return [
    found.event, say("bestOf", found.bo_type?.slice(2)), found.maps?.length > 1 && `${found.score_a}:${found.score_b}`,
    play && `${say("map", play.number)} ${play.name}`, board && say("round", board.round), phase(board),
    found.status !== "live" && say(found.status),
  ].filter(Boolean).join(" · ");
}

/** One fact of a match in words: a kill, a bomb event, a round's end. */
export function fact(each, of) {
  if (each.type === "kill") {
    return say("kill", each.actor, each.target, each.weapon, each.headshot ? say("headshot") : "");
  }
  if (each.type) return say(each.type, each.actor ?? "");
  const winner = each.winner ? of[each.winner] : each.winning_side;
  return say("roundWon", each.round, winner, say(each.win_reason), each.score_a, each.score_b);
}

function offers(state, found) {
  const shown = sections(state.offers.get(found.id)?.values() ?? []), known = state.standstill(found.id);
  keep($("markets"), shown, (each) => each.place,
    () => make("section", {}, make("h3"), make("div"), make("ul", { className: "small" })),
    (section, each) => {
      text(section.firstChild, say(`scope_${each.scope}`, each.number));
      keep(section.children[1], each.rows, (one) => one.name,
        () => make("div", { className: "group" }, make("span", { className: "name" }, make("span"), make("span", { className: "sides" })), make("div")),
        (element, one) => group(state, element, one, found));
      keep(section.lastChild, reasons(state, each.rows, found).filter(([why]) => why !== known), ([why]) => why,
        () => make("li"), (item, [why, names]) => text(item, names.length < each.rows.length ? `${names.join(", ")}: ${why}` : why));
    });
  $("no-markets").hidden = shown.length > 0;
}

/** Why nothing is open in some rows: each reason once, with the names of the rows. */
function reasons(state, rows, found) {
  const shown = new Map();
  for (const row of rows) {
    const all = row.lines.flatMap((each) => each.offers.map((one) => one.offer));
    const why = all.every((each) => each.status !== "active") && state.reason(all.find((each) => each.suspended_reason));
    if (why) shown.set(why, [...(shown.get(why) ?? []), groupName(state, row, found)]);
  }
  return [...shown];
}

/** A row: the name of its group, and its lines. */
function group(state, element, row, found) {
  const [name, lines] = element.children, ladder = row.lines.length > 1 || !Number.isNaN(row.lines[0].point);
  const labels = row.lines[0].offers.map(({ offer: each, says }) => say(sideOf(each, says, found)));
  text(name.firstChild, groupName(state, row, found));
  text(name.lastChild, ladder ? labels.join(" | ") : "");
  lines.className = ladder ? "lines" : "lines single";
  keep(lines, row.lines, (each) => each.name,
    () => make("div", { className: "line" }, make("span", { className: "point" })),
    (line, each) => {
      line.className = ["line", ladder && "ladder", each.offers.length > 3 && "many"].filter(Boolean).join(" ");
      line.firstChild.hidden = !ladder;
      text(line.firstChild, signed(row, each.point));
      prices(state, line, each, found, !ladder);
    });
}

function prices(state, line, each, found, labelled) {
  const known = new Map([...line.querySelectorAll(".offer")].map((child) => [child.dataset.key, child]));
  for (const { offer: one, says } of each.offers) {
    let element = known.get(one.market_offer_id);
    known.delete(one.market_offer_id);
    if (!element) {
      element = make("span", { className: "offer" }, make("span", { className: "side" }), make("span", { className: "odds" }));
      element.dataset.key = one.market_offer_id;
    }
    line.append(element);
    const side = sideOf(one, says, found);
    offer(state, element, one, side === "player" ? state.player(says.player) : say(side), labelled);
  }
  for (const gone of known.values()) gone.remove();
}

function signed(row, point) {
  if (Number.isNaN(point)) return "";
  return row.kind.includes("handicap") && point > 0 ? `+${point}` : String(point).replace("-", "−");
}

/** What the markets of a row are about, without their sides: the board's word for the group, with the player or team. */
function groupName(state, row, found) {
  const { player, opponent, team, half } = row.says;
  const players = [player, opponent].filter(Boolean).map((each) => state.player(each)).join(" – ");
  const about = players ? players : row.kind === "team_rounds" ? (team === "home" ? found.team_a : found.team_b) : half;
  const named = say(`group_${row.kind}`, about);
  return named === `group_${row.kind}` ? title(state, row.lines[0].offers[0].offer, found) : named;
}

function offer(state, element, each, label, labelled) {
  const [name, odds] = element.children, fresh = state.fresh(each), open = each.status === "active";
  element.className = ["offer", open ? "" : "suspended", fresh && open ? `fresh ${each.way}` : ""].join(" ").trim();
  element.title = open ? "" : state.reason(each);
  name.className = labelled ? "side" : "side hidden";
  text(name, label);
  text(odds, each.odds.toFixed(2));
  if (fresh && open) odds.setAttribute("aria-label", `${each.odds} ${say(each.way)}`);
  else odds.removeAttribute("aria-label");
}

/** A market's name: its template with the specifiers filled in, teams and players by their names. */
export function title(state, market, found) {
  const says = specifiers(market.specifiers);
  if (says.team && found) says.team = says.team === "home" ? found.team_a : found.team_b;
  for (const who of ["player", "opponent"]) says[who] = state.player(says[who]);
  const template = state.names.get(market.market_id ?? market.id);
  if (!template) return `${say("market", market.market_id ?? market.id)} ${market.specifiers}`;
  return template.replace(/\{(\w+)\}/g, (whole, key) => says[key] ?? whole);
}

function settlements(state, prove) {
  keep($("settlements"), state.settled, (each) => each.id,
    (each) => {
      const box = make("details", {}, make("summary", {}, make("span"), " ", make("span", { className: "name" })), make("ul", { className: "proof" }));
      box.addEventListener("toggle", () => box.open && prove(each).then((lines) => show(box.lastChild, lines)));
      return make("li", {}, box);
    },
    (item, each) => {
      const [result, name] = item.firstChild.firstChild.children, found = state.match(each.match_id);
      const outcome = result_of(each);
      result.className = `result ${outcome}`;
      text(result, say(outcome));
      const teams = found ? `${found.team_a} – ${found.team_b}: ` : "";
      text(name, `${teams}${title(state, each, found)} (${each.reason})`);
    });
}

/** What an entry of the ledger says; one about a window speaks of its bets alone. */
function result_of(entry) {
  if (entry.void_window) return entry.void_window.rolled_back ? "bets_stand" : "bets_void";
  return entry.new_status === "settled" ? entry.outcome : entry.new_status === "voided" ? "void" : "pending";
}

function show(list, lines) {
  list.replaceChildren(...lines.map((line) => make("li", { textContent: line })));
}

function report(state) {
  const data = state.report;
  for (const id of ["latency", "book"]) $(id).hidden = !data;
  $("alarm").hidden = !data || data.state === "following";
  if (!data) return;
  if (data.state !== "following") text($("alarm"), say(`alarm_${data.state}`));
  latency(data.latency);
  text($("book-state"), say("standing", data.active, data.suspended, say(`state_${data.state}`)));
  const check = data.check;
  $("equal").className = `seal ${check ? (check.count ? "bad" : "good") : ""}`;
  text($("equal"), !check ? say("unchecked") : check.count ? say("differs", check.count) : say("equal", 0, check.markets, check.matches));
  const recovery = data.recovery;
  $("recovery").hidden = !recovery;
  if (recovery) {
    text($("recovery-text"), say("recovery", say(recovery.state), recovery.steps_done, recovery.steps, recovery.envelopes));
    $("progress").value = recovery.finished_at ? 1 : recovery.steps ? recovery.steps_done / recovery.steps : 0;
  }
  keep($("story"), [...data.story].reverse(), (each) => each.id,
    () => make("li", {}, make("span", { className: "time" }), make("span")),
    (item, each) => {
      text(item.firstChild, clock(each.at));
      text(item.lastChild, each.text.replace(/od:match:\d+/g, (urn) => state.nameOf(urn)));
      item.lastChild.className = each.kind;
    });
}

function latency(figures) {
  text($("median"), say("median", figures.median));
  text($("spread"), say("spread", figures.last, figures.slowest, figures.count));
  const names = [...figures.edges.map((edge) => `≤ ${edge}`), say("slower")], most = Math.max(1, ...figures.bars);
  $("bars").setAttribute("aria-label", say("bars", figures.bars.map((count, place) => `${names[place]}: ${count}`).join(", ")));
  keep($("bars"), figures.bars.map((count, place) => ({ count, place })), (each) => each.place,
    () => make("div", { className: "bar" }, make("div", { className: "fill" }), make("span")),
    (bar, each) => {
      bar.firstChild.style.height = `${(100 * each.count) / most}%`;
      text(bar.lastChild, short(figures.edges[each.place]));
    });
}

/** The edge of a bar (ms) in little space. */
function short(edge) {
  return edge === undefined ? ">" : edge < 1000 ? String(edge) : `${edge / 1000}k`;
}

function envelopes(state) {
  const reported = state.report?.envelopes.map((each) => ({
    id: `${each.seq}${each.type}${each.at}`, at: each.at, type: each.type + (each.replayed ? " ↺" : ""), key: each.key, urn: each.match,
    rest: [each.markets && say("markets", each.markets), each.latency !== null && `${each.latency} ms`],
  })).reverse();
  const rows = reported ?? state.frames.map((each) => ({ ...each, key: "", urn: state.match(each.match)?.urn ?? "", rest: [] }));
  keep($("envelopes"), rows, (each) => each.id,
    () => make("li", {}, make("span", { className: "time" }), make("b"), make("span")),
    (item, each) => {
      item.title = each.key || each.urn;
      text(item.children[0], clock(each.at));
      text(item.children[1], each.type);
      text(item.children[2], [each.urn && ` ${state.nameOf(each.urn)}`, ...each.rest].filter(Boolean).join(" · "));
    });
}
