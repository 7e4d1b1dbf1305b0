import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { CHAT, post } from "../support/client.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres-server.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedConfig } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { askChat, createPaidKey } from "./paid-key.ts";

/** Waits as long as a busy machine may need: the fact is what counts. */
const LONG_MS = 60_000;

async function statusOf(answer: Promise<Response>): Promise<number> {
  const { status, body } = await answer;
  await body?.cancel();
  return status;
}

const readiness = (url: string) => statusOf(fetch(`${url}/readyz`));

async function untilReadiness(url: string, wanted: number): Promise<void> {
  const deadline = performance.now() + LONG_MS;
  while ((await readiness(url)) !== wanted) {
    if (performance.now() > deadline) throw new Error(`/readyz is not ${wanted}`);
    await Bun.sleep(100);
  }
}

describe("a SQLite file on a disk that is full", () => {
  let upstream: ScriptedUpstream;
  let served: ServedProcess;
  let folder: string;
  let secret: string;
  beforeEach(async () => {
    upstream = await startScriptedUpstream();
    folder = tempFolder();
    writeFileSync(join(folder, "tollgate.yaml"), scriptedConfig(upstream, "drain_s: 1"));
    secret = await createPaidKey(folder);
    // The shell ignores the signal that would end the process, so that a write beyond the limit just fails.
    served = await startServedProcess({ folder, through: ["sh", "-c", `trap "" XFSZ; exec "$0" "$@"`] });
  }, LONG_MS);
  afterEach(async () => {
    served.signal("SIGKILL");
    await served.exitCode;
    await upstream.stop();
  });

  /** The most bytes that a file of the gateway may have from now on; only the soft limit, so that it can be lifted. */
  function limitFiles(bytes: string): void {
    const { exitCode, stderr } = Bun.spawnSync(["prlimit", `--pid=${served.pid}`, `--fsize=${bytes}:`]);
    if (exitCode !== 0) throw new Error(`Cannot limit files: ${stderr}`);
  }

  test(
    "turns readiness red once holds fail, and green by itself when there is room again",
    async () => {
      expect(await statusOf(askChat(served.url, secret))).toBe(200);
      expect(await readiness(served.url)).toBe(200);
      limitFiles(String(statSync(join(folder, "data/tollgate.db-wal")).size));
      for (let request = 0; request < 3; request += 1) {
        expect(await statusOf(askChat(served.url, secret))).toBe(500);
      }
      await untilReadiness(served.url, 503);
      // It stays red, although nothing but the question comes any more.
      for (let look = 0; look < 4; look += 1) {
        await Bun.sleep(600);
        expect(await readiness(served.url)).toBe(503);
      }
      limitFiles("unlimited");
      await untilReadiness(served.url, 200);
      expect(await statusOf(askChat(served.url, secret))).toBe(200);
      expect(served.stdout()).toContain('"holds fail"');
    },
    2 * LONG_MS,
  );
});

describe("a PostgreSQL database that may only be read", () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  beforeEach(async () => {
    database = await createTestDatabase();
    gateway = await startTestGateway({ database: { dialect: "postgres", url: database.url } });
  }, LONG_MS);
  afterEach(async () => {
    await gateway.stop();
    await database.drop();
  });

  /** Sessions that are open keep what they began with: they are ended, and the gateway opens others. */
  async function setReadOnly(isReadOnly: boolean): Promise<void> {
    const admin = new SQL(database.url, { max: 1 });
    try {
      await admin.unsafe("SET default_transaction_read_only = off");
      const name = new URL(database.url).pathname.slice(1);
      await admin.unsafe(`ALTER DATABASE ${name} SET default_transaction_read_only = ${isReadOnly}`);
      await admin.unsafe(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
      );
    } finally {
      await admin.close();
    }
  }

  test(
    "turns readiness red once holds fail, and green by itself when it can be written again",
    async () => {
      expect(await statusOf(post(gateway, CHAT))).toBe(200);
      await setReadOnly(true);
      for (let request = 0; request < 3; request += 1) {
        expect(await statusOf(post(gateway, CHAT))).toBe(500);
      }
      await untilReadiness(gateway.url, 503);
      await setReadOnly(false);
      await untilReadiness(gateway.url, 200);
      expect(await statusOf(post(gateway, CHAT))).toBe(200);
    },
    3 * LONG_MS,
  );
});
