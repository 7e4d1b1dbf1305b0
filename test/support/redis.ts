import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisClient } from "bun";
import { freePort } from "../bench/free-port.ts";
import { type GuardedProcess, startGuarded } from "./guarded-process.ts";
import { requireProgram } from "./installed-program.ts";

const START_MS = 10_000;

let serverUrl: Promise<string> | undefined;

/**
 * The Redis of `TEST_REDIS_URL`, or else a private one, which is started once for all tests of the run
 * and keeps nothing on disk.
 */
export function testRedisUrl(): Promise<string> {
  serverUrl ??= findServer();
  return serverUrl;
}

async function findServer(): Promise<string> {
  const given = process.env.TEST_REDIS_URL;
  if (given) return given;
  const program = await requireProgram({
    name: "redis-server",
    folders: [],
    debianPackage: "redis-server",
    variable: "TEST_REDIS_URL",
  });
  const folder = mkdtempSync(join(tmpdir(), "redis-"));
  const port = await freePort();
  const options = [
    "--bind",
    "127.0.0.1",
    "--port",
    `${port}`,
    "--save",
    "",
    "--appendonly",
    "no",
    "--dir",
    folder,
  ];
  const server = startGuarded({ command: [program, ...options], folder, endSignal: "TERM" });
  const url = `redis://127.0.0.1:${port}`;
  await untilReady(server, url);
  return url;
}

async function untilReady(server: GuardedProcess, url: string): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (performance.now() < deadline && !server.hasEnded()) {
    if (await answers(url)) return;
    await Bun.sleep(10);
  }
  throw new Error(`Redis did not start: ${server.output()}`);
}

async function answers(url: string): Promise<boolean> {
  const client = new RedisClient(url, { autoReconnect: false, connectionTimeout: 1_000 });
  try {
    return (await client.send("PING", [])) === "PONG";
  } catch {
    return false;
  } finally {
    client.close();
  }
}
