import { Retry, within } from "./rest.js";

/** What a connection pushes, to be read one by one; its end is thrown at the reader at once. */
export class Inbox<T> {
  readonly #items: T[] = [];
  #end: Error | undefined;
  #wake: (() => void) | undefined;

  push(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** End it: what has not been read comes again with the next connection. */
  end(error: Error): void {
    this.#end ??= error;
    this.#wake?.();
  }

  get empty(): boolean {
    return this.#items.length === 0;
  }

  /** The next item. Throws `Retry` if none comes for so long, and what ended the inbox. */
  async next(millis: number): Promise<T> {
    while (this.#end === undefined) {
      const item = this.#items.shift();
      if (item !== undefined) return item;
      await within(new Promise<void>((resolve) => (this.#wake = resolve)), millis);
    }
    throw this.#end;
  }
}

/** `Retry` for what a library says of a connection. */
export function lost(error: unknown): Retry {
  return error instanceof Retry ? error : new Retry(error instanceof Error ? error.message : "the connection was closed");
}
