// Prints every change, as server-sent events, with the number of markets that may be sold.
import { Events } from "matchfeed-client";
import { endQuietly, stateFile } from "./program.js";

const { BASE_URL = "", API_KEY = "" } = process.env;
const changes = new Events(BASE_URL, API_KEY, { saved: stateFile("events", API_KEY) });
endQuietly(changes);
for await (const frame of changes) {
  console.log(frame.type, [...changes.book.open()].length, "markets are open");
}
