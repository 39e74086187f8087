// Prints how the document named first differs from each of the others: [[{type, action, path}]].
import { readFileSync } from "node:fs";
import { apiDiff } from "api-smart-diff";

const [before, ...others] = process.argv.slice(2).map((name) => readFileSync(name, "utf8"));
const differences = others.map((after) => apiDiff(JSON.parse(before), JSON.parse(after)));
const shown = differences.map((each) => each.map(({ type, action, path }) => ({ type, action, path })));
process.stdout.write(JSON.stringify(shown));
