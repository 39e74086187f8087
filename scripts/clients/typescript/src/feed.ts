// The queue: consume, recover, and connect again, by the rules of docs/feed.md.

import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type Channel, type ChannelModel, connect, type ConsumeMessage, IllegalOperationError } from "amqplib";
import { decode, DecodingError } from "./decoding.js";
import { Inbox, lost } from "./inbox.js";
import type { Message } from "./messages/index.js";
import { ClientError, type Comparison, Rest, Retry, within } from "./rest.js";
import { Stored } from "./stored.js";

/** A notice may come more than a minute after the loss; messages of several matches are not in order of timestamps. */
const OVERLAP_MILLIS = 120_000;
const SILENCE_MILLIS = 20_000; // `alive` comes every ten seconds: two are missing
const RECOVERY_SECONDS = 600;
const CONNECT_MILLIS = 10_000;
const RECONNECT_MILLIS = 2000;
const CLOSE_MILLIS = 1000;
const PREFETCH = 500; // what the broker sends ahead; more waits in the queue
const ACKNOWLEDGED_TOGETHER = 20;

export interface FeedOptions {
  /** The tenant's exchange. */
  readonly exchange?: string;
  /** A file that keeps book and results from one run to the next. */
  readonly saved?: string;
  /** Is told why the connection was lost. */
  readonly log?: (text: string) => void;
}

/**
 * A tenant's feed. Iterate over it, one iteration at a time: it yields each message once `book` and `results` have it, and ends
 * by `ClientError` alone.
 */
export class Feed {
  readonly rest: Rest;
  readonly #exchange: string;
  readonly #log: (text: string) => void;
  readonly #stored: Stored;
  readonly #changes = new EventEmitter().setMaxListeners(0);
  #refusedUntil = 0; // also of a connection that has ended meanwhile

  constructor(
    readonly amqpUrl: string,
    baseUrl: string,
    apiKey: string,
    { exchange = "oddsfeed", saved, log = console.warn }: FeedOptions = {},
  ) {
    this.rest = new Rest(baseUrl, apiKey);
    this.#exchange = exchange;
    this.#log = log;
    this.#stored = new Stored("queue", saved);
    this.book.suspend();
  }

  get book() {
    return this.#stored.book;
  }

  get results() {
    return this.#stored.results;
  }

  /** Compare the book with the service. */
  async compare(): Promise<Comparison> {
    return this.rest.compare(this.book.digest());
  }

  /** Store everything; call it before the process ends. In the middle of a recovery the former state stays. */
  save(): void {
    this.#save(true);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Message> {
    for (;;) {
      try {
        yield* this.#connected();
      } catch (error) {
        if (!(error instanceof Retry || error instanceof IllegalOperationError)) throw error;
        this.#log(`the connection is lost (${error.message})`);
      }
      this.#suspend();
      await sleep(RECONNECT_MILLIS);
    }
  }

  /** Consume until the connection ends or is silent; it throws then. */
  async *#connected(): AsyncGenerator<Message> {
    const inbox = new Inbox<ConsumeMessage>();
    const stop = new AbortController();
    const connection = await this.#connect(inbox, stop);
    try {
      const channel = await this.#consume(connection, inbox);
      this.#recover(stop.signal).catch((error: unknown) => {
        if (!stop.signal.aborted) inbox.end(error instanceof Error ? error : new Error(String(error)));
      });
      for (let count = 1; ; count++) {
        const delivery = await inbox.next(SILENCE_MILLIS);
        yield* this.#apply(delivery);
        if (inbox.empty || count % ACKNOWLEDGED_TOGETHER === 0) channel.ack(delivery, true);
        this.#save();
      }
    } finally {
      stop.abort();
      await this.#close(connection, inbox);
    }
  }

  async #connect(inbox: Inbox<ConsumeMessage>, stop: AbortController): Promise<ChannelModel> {
    const connection = await connect(this.amqpUrl, { timeout: CONNECT_MILLIS }).catch((error: Error) => {
      if (/: 403 /.test(error.message))
        throw new ClientError("the broker refuses the login: check the AMQP credentials and the vhost");
      throw lost(error);
    });
    const ended = (error?: Error): void => {
      stop.abort(); // what is replayed now reaches no queue of ours
      inbox.end(lost(error));
      this.#suspend(); // at once: whoever iterates may still be busy with a message
    };
    return connection.on("error", ended).on("close", ended);
  }

  async #consume(connection: ChannelModel, inbox: Inbox<ConsumeMessage>): Promise<Channel> {
    const take = (message: ConsumeMessage | null): void => {
      if (message === null) inbox.end(new Retry("the queue was deleted"));
      else inbox.push(message);
    };
    const set = async (): Promise<Channel> => {
      const channel = await connection.createChannel();
      channel.on("error", (error) => inbox.end(lost(error))).on("close", () => inbox.end(new Retry("the channel ended")));
      await channel.prefetch(PREFETCH);
      const { queue } = await channel.assertQueue("", { exclusive: true });
      await channel.bindQueue(queue, this.#exchange, "#");
      this.#suspend();
      await channel.consume(queue, take);
      return channel;
    };
    return within(set(), CONNECT_MILLIS).catch((error: unknown) => {
      throw lost(error);
    });
  }

  async #close(connection: ChannelModel, inbox: Inbox<ConsumeMessage>): Promise<void> {
    inbox.end(new Retry("the iteration was left"));
    await within(connection.close(), CLOSE_MILLIS).catch((error: Error) => {
      // It is closed already, if that is no operation any more.
      if (!(error instanceof IllegalOperationError)) this.#log(`the connection is not closed (${error.message})`);
    });
  }

  #apply(delivery: ConsumeMessage): Message[] {
    let message: Message | undefined;
    try {
      message = decode(delivery.content);
    } catch (error) {
      if (!(error instanceof DecodingError)) throw error;
      this.#log(`a message cannot be read (${error.message}); everything is recovered`);
      this.#suspend();
    }
    if (message === undefined) return [];
    const headers = delivery.properties.headers ?? {};
    const [seq, previous] = ["x-seq", "x-prev-seq"].map((name) => Number(headers[name] ?? 0));
    const applied = this.book.receive(message, seq ?? 0, previous ?? 0, Date.now());
    for (const each of applied) this.results.receive(each);
    this.#changes.emit("change");
    return applied;
  }

  #suspend(): void {
    this.book.suspend();
    this.#changes.emit("change");
  }

  /** Request what was missed whenever that is due, without end. */
  async #recover(stop: AbortSignal): Promise<void> {
    for (;;) {
      await this.#until(() => this.book.due || this.book.recovery !== "", stop);
      await sleep(Math.max(0, this.#refusedUntil - Date.now()), undefined, { signal: stop });
      const number = String(Date.now() * 1000 + Math.floor(Math.random() * 1000)); // other processes have their own
      this.book.beginRecovery(number);
      const answer = await this.rest.requestRecovery(Math.max(0, this.book.after - OVERLAP_MILLIS), number);
      if (answer.tooOld) this.book.after = 0; // too long ago: only the present can be replayed
      if (!answer.accepted) this.#refusedUntil = Date.now() + answer.wait * 1000;
      const seconds = answer.accepted ? RECOVERY_SECONDS : answer.wait;
      await this.#until(() => this.book.recovery !== number, stop, seconds * 1000);
    }
  }

  /**
   * Wait until it is true, the signal comes, or so many ms are over. By a timer of its own: a signal that Node composes of
   * others may be collected as garbage before it comes, and the next recovery would never be requested.
   */
  async #until(isTrue: () => boolean, stop: AbortSignal, millis?: number): Promise<void> {
    const over = new AbortController();
    const end = (): void => over.abort();
    const timer = millis === undefined ? undefined : setTimeout(end, millis);
    stop.addEventListener("abort", end);
    if (stop.aborted) end();
    try {
      while (!isTrue() && !over.signal.aborted) {
        await once(this.#changes, "change", { signal: over.signal }).catch((error: unknown) => {
          if (!over.signal.aborted) throw error;
        });
      }
    } finally {
      clearTimeout(timer);
      stop.removeEventListener("abort", end);
    }
  }

  #save(atOnce = false): void {
    if (this.book.recovery === "" && !this.book.due) this.#stored.save(atOnce);
  }
}
