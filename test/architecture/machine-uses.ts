import type { SourceFile } from "./source-files.ts";

/** Time, chance and threads that a file takes from the machine itself instead of from src/platform.ts. */
const MACHINE_USE =
  /(?<![\w.])(?:set|clear)(?:Timeout|Interval|Immediate)\b|\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bMath\.random\b|(?<![\w.])crypto\.(?:randomUUID|getRandomValues)\b|(?<![\w.])randomBytes\b|\bBun\.(?:sleep|sleepSync|nanoseconds|randomUUIDv7)\b|\bAbortSignal\.timeout\b|\bprocess\.hrtime\b|\bnew Worker\(/;

const COMMENT = /^\s*(?:\/\/|\/\*|\*)/;

/** Returns the files that use the machine's time, chance or threads by themselves. Comments are ignored. */
export function findMachineUses(sources: readonly SourceFile[]): readonly string[] {
  return sources
    .filter(({ text }) => text.split("\n").some((line) => MACHINE_USE.test(line) && !COMMENT.test(line)))
    .map(({ path }) => path);
}

/** Files and folders that no simulation runs yet, each with the reason. */
export const NOT_SIMULATED: Readonly<Record<string, string>> = {
  "accounts/oidc/providers.ts": "calls of providers over HTTP",
  "accounts/people": "better-auth takes the machine's time and chance as well",
  app: "composition of a process: signals, reload, the console's build",
  backup: "a command of its own, on files",
  "bodies/body-worker.ts": "runs in a worker",
  "bodies/form-body.ts": "the boundary of a form only",
  "bodies/known-histories.ts": "the key of the tags only, drawn once for each process",
  "catalog/update": "a command of contributors",
  cli: "commands, which end by themselves",
  config: "files and the environment",
  console: "runs in the browser",
  "db/postgres": "a simulation runs over SQLite",
  "db/sqlite/database.ts": "waits for the lock of a file that two processes create at once",
  "delivery/mail": "SMTP",
  demo: "the demo model, which a simulation replaces",
  "exports/file-sink.ts": "a file, which a simulation replaces",
  "exports/post-sink.ts": "HTTP, which a simulation replaces",
  "http/body.ts": "a simulation hands the bytes of a body to the story of its request",
  "http/console": "the API of the console",
  "http/http-parts.ts": "counts the open files of a process",
  "http/incoming-bodies.ts": "sockets",
  "http/readiness.ts": "probes of a process",
  "http/server.ts": "sockets",
  "ledger-grpc/server/access.ts": "bounds of calls over HTTP/2, which a simulation replaces",
  "ledger-grpc/server/health.ts": "the service of health",
  "ledger-grpc/server/server.ts": "listens over HTTP/2, which a simulation replaces",
  "ledger/postgres": "a simulation runs over SQLite",
  "ledger/sqlite/retention-worker.ts": "the thread alone: a simulation runs its work on the event loop",
  "limiter/redis/cluster.ts": "ioredis, which a simulation replaces",
  "limiter/redis/server.ts": "ioredis, which a simulation replaces",
  "platform.ts": "what all others take time and chance from",
  telemetry: "log, metrics and traces, which decide nothing",
  tokens: "counts in a worker, which a simulation replaces",
  upstream: "fetch and credentials of providers, which a simulation replaces; circuits are handed a clock",
  "usage/forecast": "questions of the console",
  workers: "threads",
};
