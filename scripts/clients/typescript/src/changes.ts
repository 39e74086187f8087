// Changes without a queue: pages, which the service holds until there is something, server-sent events, or the WebSocket
// stream. All continue where they were interrupted, by the rules of docs/changes.md and docs/stream.md.

import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { Inbox, lost } from "./inbox.js";
import { type Comparison, type Frame, parsed, refusalOf, Rest, Retry, retryAfter } from "./rest.js";
import { Stored } from "./stored.js";

const FIRST_PAUSE_SECONDS = 1;
const LAST_PAUSE_SECONDS = 30;
const WAIT_SECONDS = 20;
const PAGE = 1000;
const SILENCE_MILLIS = 30_000; // `alive` comes every ten seconds: two are missing
const CONNECT_MILLIS = 10_000;

export interface ChangesOptions {
  /** A file that keeps book, results and place from one run to the next. */
  readonly saved?: string;
  /** Is told why the connection was lost. */
  readonly log?: (text: string) => void;
}

/**
 * Iterate over it, one iteration at a time: it yields each frame once `book` and `results` have it, without end. The book is
 * `stale` until everything missed has come. A frame may come again after an interruption; it then says the same or something
 * newer. Iterating throws `ClientError` for a key that is refused.
 */
abstract class Changes {
  readonly rest: Rest;
  protected readonly stored: Stored;
  readonly #log: (text: string) => void;

  constructor(baseUrl: string, apiKey: string, { saved, log = console.warn }: ChangesOptions = {}) {
    this.rest = new Rest(baseUrl, apiKey);
    this.stored = new Stored("changes", saved);
    this.#log = log;
    this.book.stale = true;
  }

  get book() {
    return this.stored.book;
  }

  get results() {
    return this.stored.results;
  }

  /** Compare the book with the service. */
  async compare(): Promise<Comparison> {
    return this.rest.compare(this.book.digest());
  }

  /** Store everything; call it before the process ends. */
  save(): void {
    if (!this.book.stale) this.stored.save(true);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Frame> {
    let pause = FIRST_PAUSE_SECONDS;
    for (;;) {
      this.book.stale = true; // also when the iteration before was left
      let seconds = 0;
      try {
        for await (const frame of this.connected()) {
          await this.#apply(frame);
          yield frame;
          pause = FIRST_PAUSE_SECONDS;
        }
      } catch (error) {
        if (!(error instanceof Retry)) throw error;
        this.book.stale = true;
        seconds = error.seconds || pause;
        this.#log(`changes are interrupted, continuing in ${seconds} s (${error.message})`);
      }
      await sleep(seconds * 1000);
      pause = Math.min(2 * pause, LAST_PAUSE_SECONDS);
    }
  }

  /** The frames of a connection, until it ends by throwing `Retry`. */
  protected abstract connected(): AsyncGenerator<Frame>;

  /** Whether something is there already that follows what is being yielded. */
  protected get more(): boolean {
    return false;
  }

  /** Everything up to this number was yielded. */
  protected reached(since: number): void {
    this.stored.since = since;
    if (!this.book.stale) this.stored.save();
  }

  async #apply(frame: Frame): Promise<void> {
    this.book.fold(frame);
    this.results.fold(frame);
    if (frame.type !== "alive") return;
    if (frame.meta.snapshot === true) {
      // A snapshot has no results: those that were missed are in the ledger.
      for await (const entry of this.rest.settlements(this.results.lastId)) this.results.foldEntry(entry);
    }
    if (!this.more) this.book.stale = false;
  }
}

/** Changes by the page. */
export class Pages extends Changes {
  #cursor: string | undefined;
  #more = false;

  protected override get more(): boolean {
    return this.#more;
  }

  protected override async *connected(): AsyncGenerator<Frame> {
    for (;;) {
      if (this.#cursor === undefined) this.book.beginSnapshot();
      const place = this.#cursor === undefined ? { since_seq: this.stored.since } : { cursor: this.#cursor };
      const page = await this.rest.pageOfChanges({ ...place, limit: PAGE }, WAIT_SECONDS);
      this.#more = page.meta.more; // also behind the end of a snapshot: what changed while it was sent
      this.book.stale ||= this.#more;
      yield* page.data;
      this.#cursor = page.meta.next_cursor;
      if (page.meta.next_since_seq !== undefined) this.reached(page.meta.next_since_seq);
    }
  }
}

/** Changes as server-sent events. */
export class Events extends Changes {
  protected override async *connected(): AsyncGenerator<Frame> {
    this.book.beginSnapshot();
    let id: number | undefined;
    let data = "";
    for await (const line of this.rest.linesOfChanges({ since_seq: this.stored.since })) {
      if (line.startsWith("id: ")) id = Number(line.slice(4));
      else if (line.startsWith("data: ")) data = line.slice(6);
      else if (line === "" && data !== "") {
        const frame = parsed<Frame | { reason: string }>(data);
        if (!("type" in frame)) throw new Retry(`the service closed the stream: ${frame.reason}`);
        yield frame;
        if (id !== undefined) this.reached(id);
        [id, data] = [undefined, ""];
      }
    }
  }
}

/** The WebSocket stream. */
export class Stream extends Changes {
  protected override async *connected(): AsyncGenerator<Frame> {
    this.book.beginSnapshot();
    let seen = this.stored.since ?? 0;
    const inbox = new Inbox<string>();
    const socket = this.#connect(inbox);
    try {
      for (;;) {
        const frame = parsed<Frame>(await inbox.next(SILENCE_MILLIS));
        yield frame;
        seen = Math.max(seen, frame.meta.seq);
        if (!this.book.stale) this.reached(seen); // until then what has come may be a part of a snapshot
      }
    } finally {
      socket.terminate();
    }
  }

  #connect(inbox: Inbox<string>): WebSocket {
    const address = new URL("/cs2/v1/stream", this.rest.baseUrl.replace(/^http/, "ws"));
    address.searchParams.set("api_key", this.rest.apiKey);
    if (this.stored.since !== undefined) address.searchParams.set("since", String(this.stored.since));
    const socket = new WebSocket(address, { perMessageDeflate: false, handshakeTimeout: CONNECT_MILLIS });
    socket.on("message", (data) => inbox.push(String(data)));
    socket.on("error", (error) => inbox.end(lost(error)));
    socket.on("close", (code, reason) => inbox.end(new Retry(`the stream was closed: ${code} ${reason}`)));
    socket.on("unexpected-response", (_, response) => {
      response.destroy();
      const after = retryAfter(response.headers["retry-after"]);
      inbox.end(refusalOf(response.statusCode ?? 0, "the stream is refused", after));
    });
    return socket;
  }
}
