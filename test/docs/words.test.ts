import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./pages.ts";

interface RetiredWord {
  readonly pattern: RegExp;
  /** The word of docs/glossary.md that replaced it. */
  readonly use: string;
  /** Paths where the word keeps its one remaining meaning, or is part of a published name. */
  readonly except?: RegExp;
}

const RETIRED: readonly RetiredWord[] = [
  {
    pattern: /\bjournals?\b/i,
    use: "settlement outbox, unless the double-entry transfers are meant",
    except:
      /^src\/(ledger|ledger-grpc|db)\/|^src\/settlement-outbox\/folder\.ts|^src\/cli\/audit\.ts|^docs\//,
  },
  {
    pattern: /\brefusals?\b/i,
    use: "decline, upstream error, or error",
    // A refused request has a record of its own since the console.
    except:
      /^src\/(wire|domain|demo|refusals|console|http\/console|forecast|usage|payments)\/|^src\/settlement-outbox\/|^src\/gateway\/gateway\.ts|^src\/app\/start-recorders\.ts|^src\/http\/(inference|errors)\.ts|^src\/errors\.ts|^docs\//,
  },
  {
    pattern: /\bTurns?\b|\bcreateTurn\b/,
    use: "batch, permit or message",
    except: /^src\/wire\/|^src\/domain\/chat-/,
  },
  { pattern: /\bturns? of the (event )?loop\b/i, use: "event-loop turn" },
  { pattern: /\bOutcome\b/, use: "Decision or result", except: /^src\/gateway\/|^docs\// },
  { pattern: /\bneighbou?rs?\b/i, use: "peer gateway" },
  { pattern: /\bpatience\b/i, use: "backoff" },
  {
    pattern: /\bdisbelie(f|ve)/i,
    use: "usage rejected",
    except: /^src\/gateway\/(request|run-request)\.ts|^docs\/(billing|logs-and-traces)/,
  },
  { pattern: /unsayable/i, use: "unrepresentable" },
  { pattern: /\bhung[_ ]?up\b|\bhang-?ups?\b/i, use: "client disconnected", except: /^src\/(app|cli)\// },
  { pattern: /\bdoubtful\b/i, use: "in doubt" },
  { pattern: /\bTransactionFate\b|\bfate\b/, use: "commit status" },
  { pattern: /\bfit(s?)(Names?|Grant|Minute|Text)\b/, use: "shorten, clamp or re-estimate" },
  { pattern: /\b(create|begin)?Dialogue\b/, use: "codec session" },
  { pattern: /\b(find|create)?Exchange\b/, use: "format pair" },
  { pattern: /\b(Client|Upstream)End\b/, use: "ingress codec, egress codec" },
  { pattern: /\bverbatim\b/i, use: "passthrough" },
  { pattern: /\blift-?choices\b/i, use: "hoist unions" },
  { pattern: /\bkeep-?books\b|\bkeep-?limits\b/i, use: "start-ledger, start-limiter" },
  { pattern: /\bput ?aside\b/i, use: "quarantine" },
  { pattern: /\blateBody\b/, use: "connect-probe body" },
  { pattern: /\b(create)?Lanes?\b/i, use: "connection pool" },
  { pattern: /\blet ?Go\b/i, use: "drain for reuse" },
  { pattern: /\bsayOnce\b/, use: "once" },
  { pattern: /\binTurns\b/, use: "chunked" },
  { pattern: /\benders\b/, use: "abort signals" },
  { pattern: /\b(create)?LoopShare\b/, use: "cooperative yield" },
  {
    pattern: /\b(nobody|somebody|anybody|whoever)\b/i,
    use: "the component's name",
    except: /^src\/limiter\/redis\//,
  },
  { pattern: /\b(is|was) told\b|\bwhat is none\b|^\s*(\/\/|\*|\/\*\*) The same\b/i, use: "the thing's name" },
];

test("no retired word is left in src/ and docs/", () => {
  const found = [...filesBelow("src"), ...filesBelow("docs")].flatMap(retiredWordsIn);
  expect(found).toEqual([]);
});

function retiredWordsIn(path: string): string[] {
  const words = RETIRED.filter(({ except }) => !except?.test(path));
  const lines = [path, ...readFileSync(join(REPOSITORY, path), "utf8").split("\n")];
  return lines.flatMap((line, number) =>
    words
      .filter(({ pattern }) => pattern.test(line))
      .map(({ pattern, use }) => `${path}:${number}: ${pattern.exec(line)?.[0]} is retired, use: ${use}`),
  );
}

/** Paths of our own texts. Generated code keeps the names of the proto. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|lua|md)$/.test(name) && !(folder === "src" && name.startsWith("gen/")))
    .map((name) => join(folder, name));
}
