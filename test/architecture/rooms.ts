/** One room of src: a folder, or a single file beside the folders. */
export interface Room {
  /** What the room holds, as docs/architecture.md shows it. */
  readonly holds: string;
  /** Rooms, and paths inside of rooms, that it may import besides itself. */
  readonly imports: readonly string[];
  /** Packages and runtime modules that it may import. */
  readonly packages: readonly string[];
}

/** Every room of src and what it may import. docs/architecture.md is drawn from this table. */
export const ROOMS: Readonly<Record<string, Room>> = {
  cli: {
    holds: "the command line, one file per noun",
    imports: [
      "accounts",
      "app",
      "catalog",
      "config",
      "db",
      "domain",
      "errors.ts",
      "ledger",
      "ledger-grpc",
      "limiter",
      "settlement-outbox",
      "time.ts",
      "upstream",
    ],
    packages: ["bun", "commander", "drizzle-orm", "node:fs", "node:path"],
  },
  app: {
    holds: "composition and lifecycle: start, reload, signals, drain",
    imports: [
      "accounts",
      "bodies",
      "catalog",
      "config",
      "db",
      "demo",
      "domain",
      "errors.ts",
      "gateway",
      "http",
      "http/console",
      "ledger",
      "ledger-grpc",
      "limiter",
      "refusals",
      "settlement-outbox",
      "telemetry",
      "time.ts",
      "tokens",
      "upstream",
    ],
    packages: ["node:tty"],
  },
  config: {
    holds: "the YAML file and the environment, checked into one frozen value",
    imports: [
      "catalog",
      "db/location.ts",
      "demo/demo-model.ts",
      "domain",
      "limiter/limiter.ts",
      "limiter/redis/location.ts",
      "upstream/upstream.ts",
      "workers",
    ],
    packages: [
      "@sinclair/typebox",
      "node:crypto",
      "node:fs",
      "node:net",
      "node:path",
      "node:worker_threads",
      "yaml",
    ],
  },
  http: {
    holds: "the HTTP server: routes, bodies in, replies out",
    imports: [
      "accounts/key.ts",
      "catalog/catalog.ts",
      "domain",
      "errors.ts",
      "gateway",
      "ledger/records.ts",
      "limiter/limiter.ts",
      "telemetry",
      "time.ts",
      "wire",
    ],
    packages: ["bun", "elysia"],
  },
  "http/console": {
    holds: "the API of the console: guard, routes, their schemas",
    imports: ["accounts", "db", "errors.ts", "gateway", "http", "ledger/ledger.ts", "telemetry", "wire"],
    packages: ["elysia"],
  },
  gateway: {
    holds: "the story of a request",
    imports: [
      "accounts/key.ts",
      "bodies",
      "catalog",
      "domain",
      "errors.ts",
      "ledger/ledger.ts",
      "ledger/records.ts",
      "limiter/limiter.ts",
      "refusals/refusal.ts",
      "settlement-outbox/entry.ts",
      "telemetry",
      "time.ts",
      "tokens/count-tokens.ts",
      "upstream",
      "wire",
    ],
    packages: [],
  },
  accounts: {
    holds: "accounts, keys and authentication",
    imports: [
      "db",
      "domain",
      "errors.ts",
      "ledger/ledger.ts",
      "ledger/records.ts",
      "limiter/limiter.ts",
      "time.ts",
    ],
    packages: ["drizzle-orm", "node:crypto"],
  },
  "ledger-grpc": {
    holds: "server and client of the ledger over gRPC",
    imports: ["domain", "gen", "ledger", "time.ts"],
    packages: [
      "@grpc/grpc-js",
      "@grpc/proto-loader",
      "@grpc/reflection",
      "grpc-health-check",
      "node:crypto",
      "node:fs",
      "node:net",
      "node:path",
      "node:tls",
    ],
  },
  "settlement-outbox": {
    holds: "the gateway's disk queue of settlements",
    imports: [
      "db/sqlite",
      "domain",
      "ledger/ledger.ts",
      "ledger/records.ts",
      "ledger/sqlite/log-sync.ts",
      "telemetry",
      "time.ts",
    ],
    packages: ["bun:sqlite", "node:fs", "node:path"],
  },
  ledger: {
    holds: "the ledger: interface, rules, batch engine, stores, queries, audit",
    imports: ["db", "domain"],
    packages: ["bun", "bun:sqlite", "node:fs", "node:path", "node:worker_threads"],
  },
  refusals: {
    holds: "refused requests, counted in memory and kept for 7 days",
    imports: ["db", "domain", "errors.ts", "telemetry", "time.ts"],
    packages: ["drizzle-orm"],
  },
  "limiter/redis": {
    holds: "the limiter shared by replicas, in Redis scripts",
    imports: ["domain", "limiter", "telemetry", "time.ts"],
    packages: ["ioredis", "node:crypto"],
  },
  limiter: {
    holds: "rates, tokens and concurrency, per key and account",
    imports: ["db", "domain", "telemetry", "time.ts"],
    packages: [],
  },
  bodies: {
    holds: "bodies read in process or in a worker, so that none holds the event loop",
    imports: ["domain", "errors.ts", "wire", "workers"],
    packages: ["node:worker_threads"],
  },
  demo: {
    holds: "the built-in demo model and its upstream",
    imports: ["catalog", "domain", "upstream", "wire"],
    packages: [],
  },
  upstream: {
    holds: "calls of providers: Bun's fetch, circuit, cooldown",
    imports: ["domain", "telemetry", "time.ts"],
    packages: ["node:stream", "node:zlib"],
  },
  wire: {
    holds: "the wire formats, pure: bytes and JSON in, values out",
    imports: ["domain", "errors.ts"],
    packages: [],
  },
  tokens: {
    holds: "local token counts",
    imports: ["workers"],
    packages: ["gpt-tokenizer", "node:worker_threads"],
  },
  workers: {
    holds: "a queue of jobs for a worker thread, with a watchdog",
    imports: [],
    packages: ["node:worker_threads"],
  },
  catalog: { holds: "models, routes and prices", imports: ["domain"], packages: [] },
  db: {
    holds: "connections, schema and migrations of SQLite and PostgreSQL",
    imports: ["domain"],
    packages: ["bun", "bun:sqlite", "drizzle-kit", "drizzle-orm", "node:fs", "node:path"],
  },
  telemetry: { holds: "log and metrics", imports: [], packages: ["pino", "prom-client"] },
  domain: { holds: "plain types and pure functions: money, usage, model, chat", imports: [], packages: [] },
  "errors.ts": { holds: "the one table of errors", imports: [], packages: [] },
  "time.ts": { holds: "deadlines", imports: [], packages: [] },
  gen: { holds: "types generated from the proto files", imports: [], packages: [] },
};

/** The room of a file: the innermost one that is named in the table. */
export function roomOf(path: string): string {
  const named = Object.keys(ROOMS).filter((room) => path === room || path.startsWith(`${room}/`));
  return named.sort((a, b) => b.length - a.length)[0] ?? path.split("/")[0] ?? path;
}
