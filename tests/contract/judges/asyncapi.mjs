// Prints what the official parser finds in the AsyncAPI document named: [{severity, code, path, message}].
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";

const found = await new Parser().validate(readFileSync(process.argv[2], "utf8"));
const brief = found.map(({ severity, code, path, message }) => ({ severity, code, path, message }));
process.stdout.write(JSON.stringify(brief));
