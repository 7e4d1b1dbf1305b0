// A process that starts a PostgreSQL of its own, says on stdout where it is, and waits to be killed.
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgresServer } from "./postgres-server.ts";

const before = new Set(readdirSync(tmpdir()));
const server = await startPostgresServer({ isDurable: false });
const name = readdirSync(tmpdir()).find((each) => each.startsWith("postgres-") && !before.has(each)) ?? "";
console.log(JSON.stringify({ pid: server.pid(), folder: join(tmpdir(), name) }));
setInterval(() => {}, 60_000);
