// usage: server-process.ts postgres|redis
// Starts a private server and freezes it if it is Redis. Prints `{"pid","folder"}` to stdout and runs until
// killed.
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgresServer } from "./postgres-server.ts";
import { startRedisServer } from "./redis-server.ts";

const kind = Bun.argv[2] ?? "";
const before = new Set(readdirSync(tmpdir()));
const pid = kind === "redis" ? await startFrozenRedis() : await startPostgres();
const name = readdirSync(tmpdir()).find((each) => each.startsWith(`${kind}-`) && !before.has(each)) ?? "";
console.log(JSON.stringify({ pid, folder: join(tmpdir(), name) }));
setInterval(() => {}, 60_000);

async function startPostgres(): Promise<number> {
  const server = await startPostgresServer({ isDurable: false });
  return server.pid();
}

async function startFrozenRedis(): Promise<number> {
  const server = await startRedisServer();
  server.freeze();
  return server.pid();
}
