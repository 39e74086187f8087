// Prints how the document named second differs from the first: [{type, action, path}].
import { readFileSync } from "node:fs";
import { apiDiff } from "api-smart-diff";

const [before, after] = process.argv.slice(2).map((name) => JSON.parse(readFileSync(name, "utf8")));
const changes = apiDiff(before, after).map(({ type, action, path }) => ({ type, action, path }));
process.stdout.write(JSON.stringify(changes));
