import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./pages.ts";

/**
 * Words that docs/glossary.md has retired, with the word that replaced each. Patterns match identifiers and prose;
 * file names count as text.
 */
const RETIRED: ReadonlyArray<readonly [pattern: RegExp, use: string]> = [
  [/\bneighbours?\b/i, "peer gateway"],
  [/\bpatience\b/i, "backoff"],
  [/\bdisbelie(f|ve)/i, "usage rejected"],
  [/\bunsayable\b/i, "unrepresentable"],
  [/\b(hung_up|hungUp|hang-up|hangup)\b/, "client disconnected"],
  [/\b(doubtful|doubts?)\b/i, "in doubt"],
  [/\bTransactionFate\b/, "commit status"],
  [/\bfit(Names?|Grant|Minute|Text)\b/, "shorten identifiers, clamp, re-estimate"],
  [/\b(CodecSession|createCodecSession|beginDialogue)\b/, "codec session"],
  [/\bfindExchange|\bExchange\b/, "protocol pair"],
  [/\b(IngressCodec|EgressCodec)\b/, "ingress codec, egress codec"],
  [/\blift-?choices\b/i, "hoist unions"],
  [/\bkeep-?books\b/i, "start-ledger"],
  [/\bkeep-?limits\b/i, "start-limiter"],
  [/\bputAside\b/, "quarantine"],
  [/\blateBody\b/, "connect-probe body"],
  [/\blanes?\b/i, "connection pool"],
  [/\bletGo\b/, "drain for reuse"],
  [/\bsayOnce\b/, "once"],
  [/\binTurns\b/, "chunked"],
  [/\benders\b/, "abort signals"],
  [/\bthe same,/i, "the name of the thing"],
  [/\bwhat is none\b/i, "the name of the thing"],
];

/** Old words inside a published name, or the ordinary English use of one. */
const ALLOWED: readonly RegExp[] = [/record\.disbelieved|`disbelieved`|disbelieved\?: true/];

test("no retired word is left in src/ and docs/", () => {
  const found = [...filesBelow("src"), ...filesBelow("docs")].flatMap(retiredWordsIn);
  expect(found).toEqual([]);
});

function retiredWordsIn(path: string): string[] {
  const lines = [path, ...readFileSync(join(REPOSITORY, path), "utf8").split("\n")];
  return lines.flatMap((line, number) =>
    RETIRED.filter(([pattern]) => pattern.test(line) && !ALLOWED.some((allowed) => allowed.test(line))).map(
      ([pattern, use]) => `${path}:${number}: ${pattern} is retired, use: ${use}`,
    ),
  );
}

/** Paths of our own texts: generated code and migrations keep published names. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|lua|md)$/.test(name) && !name.startsWith("gen/"))
    .map((name) => join(folder, name));
}
