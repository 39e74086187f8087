// Prints every message of the queue, with the number of markets that may be sold.
import { Feed } from "matchfeed-client";
import { endQuietly, stateFile } from "./program.js";

const { AMQP_URL = "", BASE_URL = "", API_KEY = "" } = process.env;
const feed = new Feed(AMQP_URL, BASE_URL, API_KEY, { saved: stateFile("amqp", API_KEY) });
endQuietly(feed);
for await (const message of feed) {
  console.log(message.kind, [...feed.book.open()].length, "markets are open");
}
