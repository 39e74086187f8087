// Prints every frame of the WebSocket stream, with the number of markets that may be sold.
import { Stream } from "matchfeed-client";
import { endQuietly, stateFile } from "./program.js";

const { BASE_URL = "", API_KEY = "" } = process.env;
const changes = new Stream(BASE_URL, API_KEY, { saved: stateFile("websocket", API_KEY) });
endQuietly(changes);
for await (const frame of changes) {
  console.log(frame.type, [...changes.book.open()].length, "markets are open");
}
