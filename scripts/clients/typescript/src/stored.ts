// Book, results and place on disk, in one file that is always whole.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Book, type StoredBook } from "./book.js";
import { ClientError } from "./rest.js";
import { Results, type StoredResults } from "./results.js";

const SAVE_MILLIS = 1000;

/** `queue`: matches are named by `od:match:<n>`; `changes`: by their UUID. One cannot go on where the other ended. */
export type Source = "queue" | "changes";

interface Content {
  readonly source: Source;
  readonly book: StoredBook;
  readonly results: StoredResults;
  readonly since?: number;
}

/** `since`: the number up to which changes were received; undefined without any, and of a queue. */
export class Stored {
  readonly book: Book;
  readonly results: Results;
  since: number | undefined;
  #savedAt = 0;

  constructor(
    readonly source: Source,
    readonly path: string | undefined,
  ) {
    const content = path !== undefined && existsSync(path) ? read(path, source) : undefined;
    // With 0 no results would be replayed: what is settled before the first recovery would be lost.
    this.book = content === undefined ? new Book(Date.now()) : Book.from(content.book);
    this.results = content === undefined ? new Results() : Results.from(content.results);
    this.since = content?.since;
  }

  /** Write everything, at most once a second unless `atOnce`. */
  save(atOnce = false): void {
    if (this.path === undefined || (!atOnce && performance.now() - this.#savedAt < SAVE_MILLIS)) return;
    const { source, book, results, since } = this;
    writeFileSync(`${this.path}.new`, JSON.stringify({ source, book, results, since }), { flush: true });
    renameSync(`${this.path}.new`, this.path);
    this.#savedAt = performance.now();
  }
}

function read(path: string, source: Source): Content {
  try {
    const content = JSON.parse(readFileSync(path, "utf-8")) as Content;
    if (content.source === source) return content;
  } catch (error) {
    throw new ClientError(`${path} cannot be read, move it away: ${String(error)}`);
  }
  throw new ClientError(`${path} was written by a client of another channel: give each a file of its own`);
}
