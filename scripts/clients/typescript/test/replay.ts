// Feeds a book and results what a file lists, and prints what they are after each step: the test of the project compares that
// with the Python client. A step is ["suspend"], ["recover", number] or ["message", xml, x-seq, x-prev-seq].

import { readFileSync } from "node:fs";
import { Book, Results } from "matchfeed-client";
import { message } from "./feed-messages.js";

type Step = readonly ["suspend"] | readonly ["recover", string] | readonly ["message", string, number, number];

function states(steps: readonly Step[]): unknown[] {
  const [book, results] = [new Book(), new Results()];
  return steps.map((step) => {
    if (step[0] === "suspend") book.suspend();
    else if (step[0] === "recover") book.beginRecovery(step[1]);
    else for (const each of book.receive(message(step[1]), step[2], step[3], Date.now())) results.receive(each);
    return shown(book, results);
  });
}

function shown(book: Book, results: Results): unknown {
  const offers = [...book.offers].flatMap(([match, offers]) =>
    Array.from(offers.values(), ({ market, specifiers, at, state, odds = null }) => [match, market, specifiers, at, state, odds]),
  );
  const rows = Array.from(results.markets.values(), ({ match, market, specifiers, status, outcome, paid, windows }) => {
    const standing = windows.filter((window) => window.void).map(({ start, end }) => [start, end]);
    return [match, market, specifiers, status, outcome, paid, standing];
  });
  return { offers, rows, after: book.after, recovery: book.recovery, due: book.due };
}

const cases = JSON.parse(readFileSync(process.argv[2] ?? "", "utf-8")) as Step[][];
console.log(JSON.stringify(cases.map(states)));
