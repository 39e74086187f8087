// What the client requests over HTTP: recoveries, the comparison of its book, the ledger, and changes.

import type { components } from "./api.js";

type Schemas = components["schemas"];
export type Digest = Schemas["Digest"];
export type HeldMarket = Schemas["HeldMarket"];
export type Settlement = Schemas["SettlementView"];
export type Comparison = Schemas["SelfCheckView"];
export type ChangePage = Schemas["ChangePage"];
/** What changes are sent as, over WebSocket and HTTP. */
export type Frame = ChangePage["data"][number];

const TIMEOUT_MILLIS = 10_000;
const SILENCE_MILLIS = 30_000; // an event stream has `alive` every ten seconds: two are missing
const LEDGER_PAGE = 200;
const UNSAFE = /\d{16}/;

/** Something that trying again cannot mend: a login or a key that is refused. The text says what to do. */
export class ClientError extends Error {
  override readonly name = "ClientError";
}

/** Something that trying again can mend, after so many seconds; 0: by the client's own rule. */
export class Retry extends Error {
  override readonly name = "Retry";
  constructor(
    text: string,
    readonly seconds = 0,
  ) {
    super(text);
  }
}

/** How a recovery's request was answered; `wait`: seconds after which another one makes sense. */
export interface Answer {
  readonly accepted: boolean;
  readonly tooOld: boolean;
  readonly wait: number;
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

/** The tenant's REST API. */
export class Rest {
  readonly #headers: Record<string, string>;

  constructor(
    readonly baseUrl: string,
    readonly apiKey: string,
  ) {
    this.#headers = { "X-API-Key": apiKey };
  }

  /** Request everything since `after` (Unix ms; 0: the present state only). Throws `ClientError` for a key that may not. */
  async requestRecovery(after: number, number: string): Promise<Answer> {
    const query = { after, request_id: number };
    let response: Response;
    try {
      response = await this.#request("/cs2/v1/recovery/initiate_request", query, { method: "POST" });
    } catch (error) {
      if (error instanceof Retry) return { accepted: false, tooOld: false, wait: 1 };
      throw error;
    }
    const refusal = response.ok ? undefined : await refused(response);
    if (response.status === 401 || response.status === 403)
      throw new ClientError(`the key may not request recoveries: ${refusal?.text}`);
    // The Retry-After of a 409 is the latest moment at which the other recovery ends; mostly it is sooner.
    const wait = response.status === 409 ? 3 : (retryAfter(response.headers.get("retry-after")) ?? 1);
    const tooOld = response.status === 422 && refusal?.codes.includes("too_old") === true;
    return { accepted: response.ok, tooOld, wait: tooOld ? 0 : wait };
  }

  /** Compare a book's digest with the service. Throws `ClientError` for what is refused, else `Retry`. */
  async compare(digest: Digest): Promise<Comparison> {
    const init = { method: "POST", body: JSON.stringify(digest), headers: { "Content-Type": "application/json" } };
    return (await this.#json<Schemas["Single_SelfCheckView"]>("/cs2/v1/selfcheck", {}, init)).data;
  }

  /** The entries of the settlement ledger after `sinceId`, in order, until now. Throws as `compare`. */
  async *settlements(sinceId = 0): AsyncGenerator<Settlement> {
    for (let since = sinceId; ; ) {
      const query = { since_id: since, limit: LEDGER_PAGE };
      const { data } = await this.#json<Schemas["Many_SettlementView"]>("/cs2/v1/settlements", query);
      yield* data;
      const last = data.at(-1);
      if (last === undefined || data.length < LEDGER_PAGE) return;
      since = last.id;
    }
  }

  /** A page of changes, which the service may hold for `wait` seconds. Throws as `compare`. */
  async pageOfChanges(query: Parameters, wait: number): Promise<ChangePage> {
    return this.#json("/cs2/v1/changes", { ...query, wait }, {}, TIMEOUT_MILLIS + wait * 1000);
  }

  /** What an event stream of changes sends, in lines; it ends in `Retry`. Throws as `compare`. */
  async *linesOfChanges(query: Parameters): AsyncGenerator<string> {
    const stop = new AbortController();
    const init = { headers: { Accept: "text/event-stream" }, signal: stop.signal };
    try {
      const response = await within(this.#request("/cs2/v1/changes", query, init), TIMEOUT_MILLIS);
      if (!response.ok) throw await refusal(response);
      if (response.body === null) throw new Retry("the stream is empty");
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const piece = await within(transported(() => reader.read()), SILENCE_MILLIS);
        if (piece.done) throw new Retry("the stream ended");
        const lines = (rest + piece.value).split("\n");
        rest = lines.pop() ?? "";
        yield* lines;
      }
    } finally {
      stop.abort();
    }
  }

  /** The answer to a GET. Throws as `compare`. */
  async get<T>(path: string, query: Parameters = {}): Promise<T> {
    return this.#json(path, query);
  }

  async #json<T>(path: string, query: Parameters, init: RequestInit = {}, timeout = TIMEOUT_MILLIS): Promise<T> {
    const response = await this.#request(path, query, { ...init, signal: AbortSignal.timeout(timeout) });
    if (!response.ok) throw await refusal(response);
    return parsed<T>(await transported(() => response.text()));
  }

  async #request(path: string, query: Parameters, init: RequestInit): Promise<Response> {
    const address = new URL(path, this.baseUrl);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) address.searchParams.set(name, String(value));
    const headers = { ...this.#headers, ...(init.headers as Record<string, string>) };
    const signal = init.signal ?? AbortSignal.timeout(TIMEOUT_MILLIS);
    return transported(() => fetch(address, { ...init, headers, signal }));
  }
}

/** JSON of the service. Throws `Retry` for what was cut off, and for numbers that are no longer exact here. */
export function parsed<T>(text: string): T {
  const exact = (_: string, value: unknown): unknown => {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new ClientError(`${value} is not exact here`);
    return value;
  };
  try {
    return JSON.parse(text, UNSAFE.test(text) ? exact : undefined) as T;
  } catch (error) {
    if (error instanceof SyntaxError) throw new Retry(`no JSON: ${error.message}`);
    throw error;
  }
}

/** The result, or `Retry` if it does not come in time. */
export async function within<T>(promise: Promise<T>, millis: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Retry(`nothing came for ${millis / 1000} s`)), millis);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The seconds of a Retry-After; undefined if there is none. */
export function retryAfter(header: string | null | undefined): number | undefined {
  return header != null && /^\d+$/.test(header) ? Number(header) : undefined;
}

/** `Retry` for a refusal that may end, else `ClientError`. */
export function refusalOf(status: number, text: string, after: number | undefined): Error {
  if (status === 429 || status >= 500) return new Retry(`status ${status}: ${text}`, after);
  return new ClientError(`status ${status}: ${text}`);
}

/** The result of a request; what breaks on the way is `Retry`. */
async function transported<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Retry(`the request broke off: ${error instanceof Error ? (error.cause ?? error.message) : error}`);
  }
}

async function refusal(response: Response): Promise<Error> {
  return refusalOf(response.status, (await refused(response)).text, retryAfter(response.headers.get("retry-after")));
}

/** What the service says of a refusal: a sentence, or with 422 one for each field, and their codes. */
async function refused(response: Response): Promise<{ text: string; codes: string[] }> {
  const body = await transported(() => response.text());
  let detail: Schemas["Problem"]["detail"];
  try {
    detail = (JSON.parse(body) as Schemas["Problem"]).detail;
  } catch {
    detail = body.slice(0, 200); // of a proxy between us and the service
  }
  if (typeof detail === "string") return { text: detail, codes: [] };
  return { text: detail.map((field) => field.msg).join(" "), codes: detail.map((field) => field.type) };
}
