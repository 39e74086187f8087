// Start, stop and the loops between: REST now and then, the stream all the time.

import { Api, Refused, Stream } from "./api.js";
import { State } from "./state.js";
import { fact, render } from "./view.js";
import { locale, say, setLocale, translate } from "./words.js";

const $ = (id) => document.getElementById(id);
const LIST_MILLIS = 5_000, SELECTED_MILLIS = 2_000, OTHERS_MILLIS = 12_000, REPORT_MILLIS = 1_000, PAINT_MILLIS = 500, NAMES_MILLIS = 1_000;
const THEMES = ["", "light", "dark"];

let board = null;

class Board {
  constructor(key, whoami) {
    this.api = new Api(key);
    this.state = new State();
    this.whoami = whoami;
    this.timers = [];
    this.answering = true;
    this.streams = { all: new Stream(key, "/cs2/v1/stream", (frame) => this.receive(frame), () => this.link()), one: null };
    this.every(LIST_MILLIS, () => this.lists());
    this.every(SELECTED_MILLIS, () => this.detail(this.state.selected));
    this.every(OTHERS_MILLIS, () => Promise.all(this.state.lists.live.map((id) => this.detail(id))));
    this.every(REPORT_MILLIS, () => this.report());
    this.every(PAINT_MILLIS, async () => this.paint());
    this.every(NAMES_MILLIS, () => this.learnPlayers());
    this.every(NAMES_MILLIS, () => this.learnMatches());
    this.learnNames();
  }

  /** Runs `act` now and then again and again, each time after it has ended. */
  every(millis, act) {
    const slot = this.timers.push(0) - 1;
    const turn = async () => {
      try {
        await act();
      } catch (error) {
        this.failed(error);
      }
      if (!this.ended) this.timers[slot] = setTimeout(turn, millis);
    };
    this.timers[slot] = setTimeout(turn, 0);
  }

  failed(error) {
    if (error instanceof Refused && (error.status === 401 || error.status === 403)) close(error.message);
    else if (!(error instanceof Refused)) this.answering = false;
    this.link();
  }

  async lists() {
    for (const status of ["live", "upcoming", "finished"]) {
      this.state.list(status, (await this.api.get(`/cs2/v1/matches?status=${status}&limit=12`)).data);
    }
    const first = this.state.selected === null;
    if (first && this.state.lists.live.length) {
      await Promise.all(this.state.lists.live.map((id) => this.detail(id)));
      this.choose(this.state.lists.live[0]);
    }
    this.answering = true;
    this.link();
  }

  async detail(id) {
    if (id) this.state.learn((await this.api.get(`/cs2/v1/matches/${id}`)).data);
  }

  async settlements(id) {
    const path = `/cs2/v1/matches/${id}/settlements?limit=1000`;
    let [newest, cursor] = [[], ""];
    do {
      const page = await this.api.get(path + (cursor && `&cursor=${cursor}`));
      newest = [...newest, ...page.data].slice(-15);
      cursor = page.meta.next_cursor;
    } while (cursor);
    for (const entry of newest) this.state.settle(entry);
  }

  async report() {
    if (this.silentAbout > Date.now()) return;
    try {
      this.state.report = await this.api.get("/board/report");
    } finally {
      if (!this.state.report) this.silentAbout = Date.now() + 10_000;
    }
  }

  async learnNames() {
    [this.state.names, this.state.reasons] = await Promise.all([this.api.names(locale()), this.api.reasons(locale())]);
  }

  /** A player whom the key may not see, or whom nobody knows, keeps the id. */
  async learnPlayers() {
    for (const id of this.state.nameless()) {
      const name = await this.api.player(id).catch((error) => {
        if (error instanceof Refused && [403, 404].includes(error.status)) return id;
        throw error;
      });
      this.state.players.set(id, name);
    }
  }

  /** A match that is in no list any more, or that the key may not see, which keeps its URN. */
  async learnMatches() {
    for (const urn of this.state.unnamed()) {
      const name = await this.api.get(`/cs2/v1/matches/${urn}`).then(({ data }) => `${data.team_a} – ${data.team_b}`, (error) => {
        if (error instanceof Refused && [403, 404].includes(error.status)) return urn;
        throw error;
      });
      this.state.urns.set(urn, name);
    }
  }

  receive(frame) {
    this.state.frame(frame);
    this.answering = true;
  }

  choose(id) {
    this.state.selected = id;
    this.streams.one?.close();
    this.streams.one = new Stream(this.api.key, `/cs2/v1/stream/${id}`, (frame) => this.receive(frame), () => this.link());
    this.detail(id).catch((error) => this.failed(error));
    this.settlements(id).catch((error) => this.failed(error));
    this.paint();
  }

  /** What a settlement rests on, line by line. */
  async prove(entry) {
    const path = `/cs2/v1/matches/${entry.match_id}`;
    for (const part of ["timeline", "rounds"]) this.state.facts(entry.match_id, (await this.api.get(`${path}/${part}`)).data);
    if (!this.state.match(entry.match_id)) await this.detail(entry.match_id);
    const facts = this.state.events.get(entry.match_id), match = this.state.match(entry.match_id);
    return entry.rests_on.map((id) => {
      const each = facts.get(id);
      if (!each) return say("unlisted", id);
      return each.type ? `${say("round", each.round)}: ${fact(each, match)}` : fact(each, match);
    });
  }

  link() {
    const open = this.streams.all?.open;
    $("link").className = `dot ${this.answering ? "on" : "off"}`;
    $("link").textContent = `${say(!this.answering ? "off" : open ? "on" : "polling")} · ${this.whoami.name}`;
  }

  paint() {
    render(this.state, (id) => this.choose(id), (entry) => this.prove(entry));
  }

  close() {
    this.ended = true;
    this.timers.forEach(clearTimeout);
    this.streams.all.close();
    this.streams.one?.close();
  }
}

async function open(key) {
  try {
    const whoami = (await new Api(key).get("/v1/whoami")).data;
    sessionStorage.setItem("key", key);
    board?.close();
    board = new Board(key, whoami);
    show(true);
  } catch (error) {
    close(error instanceof Refused ? say("refused", error.message) : say("away"));
  }
}

function close(why = "") {
  sessionStorage.removeItem("key");
  board?.close();
  board = null;
  show(false);
  $("refused").textContent = why;
  $("link").textContent = "";
}

function show(opened) {
  $("key-form").hidden = opened;
  $("board").hidden = $("forget").hidden = !opened;
  if (!opened) $("alarm").hidden = true;
}

function speak(wanted) {
  setLocale(wanted);
  translate(document);
  $("language").textContent = wanted === "en" ? "Русский" : "English";
  $("language").lang = wanted === "en" ? "ru" : "en";
  board?.learnNames();
  board?.link();
  board?.paint();
}

function dress(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  localStorage.setItem("theme", theme);
}

$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  open($("key").value.trim());
  $("key").value = "";
});
$("forget").addEventListener("click", () => close());
$("language").addEventListener("click", () => speak(locale() === "en" ? "ru" : "en"));
$("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme ?? "";
  dress(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
});

/** The key that the link carried; it does not stay in the address. */
function arrived() {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (key) history.replaceState(null, "", location.pathname);
  return key ?? sessionStorage.getItem("key");
}

dress(localStorage.getItem("theme") ?? "");
speak(locale());
addEventListener("hashchange", () => location.hash && open(arrived()));
const key = arrived();
if (key) open(key);
else show(false);
