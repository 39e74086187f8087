// Prints every change, requested by the page, with the number of markets that may be sold.
import { Pages } from "matchfeed-client";
import { endQuietly, stateFile } from "./program.js";

const { BASE_URL = "", API_KEY = "" } = process.env;
const changes = new Pages(BASE_URL, API_KEY, { saved: stateFile("http", API_KEY) });
endQuietly(changes);
for await (const frame of changes) {
  console.log(frame.type, [...changes.book.open()].length, "markets are open");
}
