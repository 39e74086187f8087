// REST, the catalogue and the stream, with the visitor's key. No answer is ever written as markup.

const QUIET_MILLIS = 30_000; // without `alive` for so long the stream is dead
const LONGEST_WAIT = 30_000;

export class Refused extends Error {
  constructor(status, detail) {
    super(typeof detail === "string" ? detail : JSON.stringify(detail));
    this.status = status;
  }
}

export class Api {
  constructor(key) {
    this.key = key;
  }

  /** The answer's JSON, null without content; throws Refused for a refusal, TypeError when nobody answers. */
  async get(path) {
    const answer = await fetch(path, { headers: { "X-API-Key": this.key, Accept: "application/json" } });
    if (answer.status === 204) return null;
    const body = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Refused(answer.status, body.detail ?? String(answer.status));
    return body;
  }

  /** A player's name; throws as `get` does. */
  async player(id) {
    return (await this.get(`/cs2/v1/players/${encodeURIComponent(id)}`)).data.name;
  }

  /** What each code of a suspension means, in one language; nothing for a key that may not read it. */
  async reasons(locale) {
    const found = await this.get(`/cs2/v1/markets/suspension-reasons?locale=${locale}`).catch((error) => {
      if (error instanceof Refused) return { data: [] };
      throw error;
    });
    return new Map(found.data.map((each) => [each.code, each.description]));
  }

  /** Templates of market names by id, in one language. */
  async names(locale) {
    const answer = await fetch(`/v1/descriptions/${locale}/markets`, { headers: { "X-API-Key": this.key } });
    if (!answer.ok) return new Map();
    const xml = new DOMParser().parseFromString(await answer.text(), "application/xml");
    return new Map([...xml.querySelectorAll("market")].map((each) => [Number(each.getAttribute("id")), each.getAttribute("name")]));
  }
}

/** The stream of all matches, or of one; it connects again for as long as it is not closed. */
export class Stream {
  constructor(key, path, receive, changed) {
    Object.assign(this, { key, path, receive, changed, wait: 1000, open: false, ended: false });
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}${this.path}?api_key=${encodeURIComponent(this.key)}`);
    this.socket = socket;
    this.watch(socket);
    socket.onmessage = (event) => {
      this.watch(socket);
      if (!this.open) this.set(true);
      this.wait = 1000;
      this.receive(JSON.parse(event.data));
    };
    socket.onclose = () => {
      clearTimeout(this.timer);
      this.set(false);
      if (this.ended || socket !== this.socket) return;
      this.timer = setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
    };
  }

  watch(socket) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => socket.close(), QUIET_MILLIS);
  }

  set(open) {
    this.open = open;
    this.changed(open);
  }

  close() {
    this.ended = true;
    clearTimeout(this.timer);
    this.socket.close();
  }
}
