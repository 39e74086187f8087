// The state as elements.

import { clock, keep, make, text } from "./dom.js";
import { specifiers } from "./state.js";
import { say } from "./words.js";

const $ = (id) => document.getElementById(id);
const SCOPES = ["round", "map", "match"];

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
    why ? `${say("suspended")}: ${say(why)}` : say("prices", state.open(match.id)),
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
  text($("suspension"), why && say("wasOpen", say(why)));
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
  const groups = new Map();
  for (const offer of state.offers.get(found.id)?.values() ?? []) {
    const says = specifiers(offer.specifiers);
    const scope = says.round ? "round" : says.map ? "map" : "match";
    const name = `${SCOPES.indexOf(scope)}/${String(says.map ?? "").padStart(2, "0")}/${String(says.round ?? "").padStart(3, "0")}`;
    if (!groups.has(name)) groups.set(name, { name, title: say(`scope_${scope}`, says[scope]), offers: [] });
    groups.get(name).offers.push(offer);
  }
  const sorted = [...groups.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  keep($("markets"), sorted, (each) => each.name,
    () => make("section", {}, make("h3"), make("div", { className: "offers" })),
    (section, group) => {
      text(section.firstChild, group.title);
      keep(section.lastChild, group.offers, (each) => each.market_offer_id,
        () => make("div", { className: "offer" }, make("span", { className: "name" }), make("span", { className: "odds" }), make("span", { className: "why" })),
        (element, each) => offer(state, element, each, found));
    });
  $("no-markets").hidden = sorted.length > 0;
}

function offer(state, element, each, found) {
  const [name, odds, why] = element.children, fresh = state.fresh(each), open = each.status === "active";
  element.className = ["offer", open ? "" : "suspended", fresh && open ? `fresh ${each.way}` : ""].join(" ").trim();
  text(name, title(state, each, found));
  text(odds, each.odds.toFixed(2) + (fresh && open ? (each.way === "up" ? " ▲" : " ▼") : ""));
  odds.setAttribute("aria-label", fresh && open ? `${each.odds} ${say(each.way)}` : String(each.odds));
  text(why, open ? "" : `${say("suspended")}${each.suspended_reason ? ": " + say(each.suspended_reason) : ""}`);
}

/** A market's name: its template with the specifiers filled in, teams and players by their names. */
export function title(state, market, found) {
  const says = specifiers(market.specifiers);
  if (says.team && found) says.team = says.team === "home" ? found.team_a : found.team_b;
  says.player = state.players.get(says.player) ?? says.player;
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
      result.className = outcome;
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
      text(item.lastChild, each.text);
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
      text(bar.lastChild, names[each.place].replace("≤ ", ""));
    });
}

function envelopes(state) {
  const reported = state.report?.envelopes.map((each) => ({
    id: `${each.seq}${each.type}${each.at}`, at: each.at, type: each.type + (each.replayed ? " ↺" : ""),
    match: each.match, rest: `${each.markets} · ${each.key}${each.latency === null ? "" : ` · ${each.latency} ms`}`,
  })).reverse();
  const rows = reported ?? state.frames.map((each) => ({ ...each, match: state.match(each.match)?.urn ?? "", rest: "" }));
  keep($("envelopes"), rows, (each) => each.id,
    () => make("li", {}, make("span", { className: "time" }), make("b"), " ", make("code")),
    (item, each) => {
      text(item.children[0], clock(each.at));
      text(item.children[1], each.type);
      text(item.children[2], `${each.match} ${each.rest}`);
    });
}
