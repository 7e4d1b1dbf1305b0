import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { CHAT, post } from "../support/client.ts";
import type { ServedProcess } from "../support/served-process.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";
import { askChat } from "./paid-key.ts";
import { openProcessFixture, type ProcessFixture } from "./process-fixture.ts";

async function statusOf(answer: Promise<Response>): Promise<number> {
  const { status, body } = await answer;
  await body?.cancel();
  return status;
}

const readiness = (url: string) => statusOf(fetch(`${url}/readyz`));

/** Waits for a status of /readyz. `meanwhile` runs before each further look. */
async function untilReadiness(url: string, wanted: number, meanwhile = async () => {}): Promise<void> {
  await until(async () => {
    if ((await readiness(url)) === wanted) return true;
    await meanwhile();
    return false;
  });
}

describe("a SQLite file on a disk that is full", () => {
  let fixture: ProcessFixture;
  let served: ServedProcess;
  beforeEach(async () => {
    fixture = await openProcessFixture("drain_s: 1");
    // The shell ignores SIGXFSZ, so that a write beyond the limit fails and does not end the process.
    served = await fixture.serve({ through: ["sh", "-c", `trap "" XFSZ; exec "$0" "$@"`] });
  });
  afterEach(() => fixture.close());

  /** Sets the maximum file size of the gateway. Only the soft limit, so that it can be raised again. */
  function limitFiles(bytes: string): void {
    const { exitCode, stderr } = Bun.spawnSync(["prlimit", `--pid=${served.pid}`, `--fsize=${bytes}:`]);
    if (exitCode !== 0) throw new Error(`Cannot limit files: ${stderr}`);
  }

  test("makes /readyz 503 after three failed holds, and 200 once there is space again", async () => {
    const { folder, secret } = fixture;
    expect(await statusOf(askChat(served.url, secret))).toBe(200);
    expect(await readiness(served.url)).toBe(200);
    limitFiles(String(statSync(join(folder, "data/tollgate.db-wal")).size));
    for (let request = 0; request < 3; request += 1) {
      expect(await statusOf(askChat(served.url, secret))).toBe(500);
    }
    await untilReadiness(served.url, 503);
    // It stays 503 without further requests.
    for (let look = 0; look < 4; look += 1) {
      await Bun.sleep(600);
      expect(await readiness(served.url)).toBe(503);
    }
    limitFiles("unlimited");
    await untilReadiness(served.url, 200);
    // Less than the probe of the outbox's disk.
    limitFiles("1024");
    await untilReadiness(served.url, 503);
    expect(await (await fetch(`${served.url}/readyz`)).json()).toMatchObject({
      status: "not_ready",
      checks: { ledger: { ok: true }, outbox: { ok: false, reason: "not_writable" } },
    });
    limitFiles("unlimited");
    await untilReadiness(served.url, 200);
    expect(await statusOf(askChat(served.url, secret))).toBe(200);
    expect(served.stdout()).toContain('"holds fail"');
  });
});

describe("a read-only PostgreSQL database", () => {
  let database: TestDatabase;
  let gateway: TestGateway;
  beforeEach(async () => {
    database = await createTestDatabase();
    gateway = await startTestGateway({ database: { dialect: "postgres", url: database.url } });
  });
  afterEach(async () => {
    await gateway.stop();
    await database.drop();
  });

  /** Ends open sessions, which keep their setting, so that the gateway opens new ones. */
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

  test("makes /readyz 503 after three failed holds, and 200 once it is writable again", async () => {
    expect(await statusOf(post(gateway, CHAT))).toBe(200);
    await setReadOnly(true);
    // A request may fail before its hold, while its connection is ended: more follow until three holds have failed.
    await untilReadiness(gateway.url, 503, async () => {
      expect(await statusOf(post(gateway, CHAT))).toBe(500);
    });
    await setReadOnly(false);
    await untilReadiness(gateway.url, 200);
    // A connection that was ended is found out by the request that uses it.
    await until(async () => (await statusOf(post(gateway, CHAT))) === 200);
  });
});
