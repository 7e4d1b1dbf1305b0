import { expect, test } from "bun:test";
import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";

/** What each part of src may import, besides itself: other parts, single files, and packages. */
const ALLOWED: Record<string, readonly string[]> = {
  domain: [],
  "errors.ts": [],
  gen: ["@grpc/grpc-js", "@grpc/proto-loader"],
  "time.ts": [],
  telemetry: ["pino", "prom-client"],
  db: ["domain", "drizzle-orm", "drizzle-kit", "bun", "bun:sqlite", "node:fs", "node:path"],
  catalog: ["domain"],
  wire: ["domain", "errors.ts"],
  workers: ["node:worker_threads"],
  tokens: ["workers", "gpt-tokenizer", "node:worker_threads"],
  bodies: ["domain", "errors.ts", "wire", "workers", "node:worker_threads"],
  upstream: ["domain", "errors.ts", "wire", "telemetry", "node:stream", "node:zlib"],
  demo: ["domain", "wire", "catalog", "upstream/cooldown.ts", "upstream/upstream.ts"],
  limiter: ["domain", "errors.ts", "telemetry", "db/database.ts", "db/gateways.ts"],
  "limiter/redis": ["domain", "limiter", "telemetry", "ioredis", "node:crypto"],
  ledger: ["domain", "db", "telemetry", "bun", "bun:sqlite", "node:fs", "node:path", "node:worker_threads"],
  "ledger-grpc": [
    "domain",
    "time.ts",
    "gen",
    "telemetry",
    "ledger/core/check.ts",
    "ledger/ledger.ts",
    // The client validates commands and queries with the ledger's own rules and reads.
    "ledger/queries",
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
  "settlement-outbox": [
    "db/sqlite",
    "domain",
    "time.ts",
    "ledger/ledger.ts",
    "ledger/sqlite/log-sync.ts",
    "telemetry",
    "bun",
    "bun:sqlite",
    "node:fs",
    "node:path",
  ],
  accounts: [
    "domain",
    "errors.ts",
    "time.ts",
    "db",
    "ledger/ledger.ts",
    "limiter/limiter.ts",
    "drizzle-orm",
    "node:crypto",
  ],
  config: [
    "domain",
    "demo/demo-model.ts",
    "limiter/limiter.ts",
    "limiter/redis/location.ts",
    "upstream/upstream.ts",
    "catalog",
    "db/location.ts",
    "workers",
    "@sinclair/typebox",
    "node:crypto",
    "node:net",
    "node:fs",
    "node:path",
    "node:worker_threads",
    "yaml",
  ],
  gateway: [
    "domain",
    "errors.ts",
    "time.ts",
    "bodies",
    "wire",
    "telemetry",
    "catalog",
    "accounts/key.ts",
    "ledger/ledger.ts",
    "settlement-outbox/entry.ts",
    "limiter/limiter.ts",
    "tokens/count-tokens.ts",
    "upstream/circuit.ts",
    "upstream/cooldown.ts",
    "upstream/upstream.ts",
  ],
  http: [
    "domain",
    "errors.ts",
    "time.ts",
    "wire",
    "gateway",
    "telemetry",
    "catalog/catalog.ts",
    "accounts/key.ts",
    "ledger/ledger.ts",
    "limiter/limiter.ts",
    "elysia",
    "bun",
  ],
};

const SRC = join(import.meta.dir, "../src");

test.each(Object.entries(ALLOWED))("src/%s imports only what it may", async (part, allowed) => {
  expect(await straysOf(part, allowed)).toEqual([]);
});

test("every part of src is named here, or is where the parts meet", async () => {
  const parts = new Set((await sources()).map(partOf));
  const meetingPlaces = ["app", "cli"];
  expect([...parts].filter((part) => !(part in ALLOWED)).sort()).toEqual(meetingPlaces);
});

test("the environment is read by the configuration alone", async () => {
  const readers = await sourcesMatching(/\b(Bun|process|import\.meta)\.env\b/);
  expect(readers.filter((file) => partOf(file) !== "config")).toEqual([]);
});

async function straysOf(part: string, allowed: readonly string[]): Promise<string[]> {
  const strays: string[] = [];
  for (const file of (await sources()).filter((each) => partOf(each) === part)) {
    for (const target of await importsOf(file)) {
      const isOwn = partOf(target) === part;
      const isAllowed = isOwn || allowed.some((each) => target === each || target.startsWith(`${each}/`));
      if (!isAllowed) strays.push(`${file} -> ${target}`);
    }
  }
  return strays;
}

/** Import targets: paths from src for our own files, package names for others. Types count too. */
async function importsOf(file: string): Promise<string[]> {
  const text = await Bun.file(join(SRC, file)).text();
  const targets = [
    ...text.matchAll(/^\s*(?:import|export)\b[^;]*?from "([^"]+)"|\bimport\("([^"]+)"\)|^import "([^"]+)"/gm),
  ];
  return targets.map((match) => {
    const target = match[1] ?? match[2] ?? match[3] ?? "";
    return target.startsWith(".") ? normalize(join(dirname(file), target)) : target;
  });
}

async function sources(): Promise<string[]> {
  return (await Array.fromAsync(new Glob("**/*.ts").scan(SRC))).sort();
}

async function sourcesMatching(pattern: RegExp): Promise<string[]> {
  const files = await sources();
  const texts = await Promise.all(files.map((file) => Bun.file(join(SRC, file)).text()));
  return files.filter((_, index) => pattern.test(texts[index] ?? ""));
}

/** The innermost part that is named, else the outermost folder. */
function partOf(file: string): string {
  const named = Object.keys(ALLOWED).filter((part) => file === part || file.startsWith(`${part}/`));
  return named.sort().at(-1) ?? file.split("/")[0] ?? file;
}
