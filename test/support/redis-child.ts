// A process that starts a Redis of its own, freezes it, says on stdout where it is, and waits to be killed.
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedisServer } from "./redis-server.ts";

const before = new Set(readdirSync(tmpdir()));
const server = await startRedisServer();
const name = readdirSync(tmpdir()).find((each) => each.startsWith("redis-") && !before.has(each)) ?? "";
server.freeze();
console.log(JSON.stringify({ pid: server.pid(), folder: join(tmpdir(), name) }));
setInterval(() => {}, 60_000);
