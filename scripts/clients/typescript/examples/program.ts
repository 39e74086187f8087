// What the examples share: the file that they go on from, and how they end.
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const INTERRUPTED = 130; // the status of a program that Ctrl-C has ended

/**
 * The file of this channel and key: in the directory that `MATCHFEED_STATE` names, else in one below the system's for
 * temporary files.
 */
export function stateFile(channel: string, apiKey: string): string {
  const directory = process.env["MATCHFEED_STATE"] || join(tmpdir(), "matchfeed-examples");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return join(directory, `typescript-${channel}-${createHash("sha256").update(apiKey).digest("hex").slice(0, 8)}.json`);
}

/** Ctrl-C ends the program, and so does the end of what reads its output (`| head`); what it has received is stored. */
export function endQuietly(client: { save(): void }): void {
  process.on("SIGINT", () => (client.save(), process.exit(INTERRUPTED)));
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    client.save();
    process.exit();
  });
}
