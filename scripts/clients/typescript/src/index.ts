// A client of matchfeed: the feed over AMQP, changes over HTTP and WebSocket; what is on offer, and results.

export { Book, type Offer, type OpenOffer, type State } from "./book.js";
export { type ChangesOptions, Events, Pages, Stream } from "./changes.js";
export { decode, DecodingError } from "./decoding.js";
export { Feed, type FeedOptions } from "./feed.js";
export * as messages from "./messages/index.js";
export type { Message } from "./messages/index.js";
export { ClientError, type Comparison, type Frame, Rest, Retry, type Settlement } from "./rest.js";
export { type Proof, prove } from "./ledger.js";
export { type MarketResult, Results, type Window } from "./results.js";
