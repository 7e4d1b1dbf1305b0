import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createWorkerReader } from "../../src/ledger/sqlite/reads.ts";
import { errorCodeOf, type OpenLedger, openLedger, temporaryFolder } from "./samples.ts";

let open: OpenLedger;

beforeAll(async () => {
  open = await openLedger(0n);
});

afterAll(() => open.close());

/** Opens a file that no read gets past until `unlock`. */
function openLocked() {
  const folder = temporaryFolder();
  const path = join(folder.path, "locked.db");
  const client = new Database(path);
  client.run("CREATE TABLE things (n)");
  client.run("BEGIN EXCLUSIVE");
  const remove = () => {
    client.close();
    folder.remove();
  };
  return { path, unlock: () => client.run("ROLLBACK"), remove };
}

describe("the worker reader", () => {
  const COUNT = { sql: "SELECT count(*) AS n FROM things", values: [] };
  const WALLETS = { sql: "SELECT * FROM wallets", values: [] };

  test("does not block the event loop, which a read waits for here", async () => {
    const { path, unlock, remove } = openLocked();
    const reader = createWorkerReader({ path });
    const counted = reader.run(COUNT);
    for (let turn = 0; turn < 5; turn += 1) await Bun.sleep(1);
    unlock();
    expect(await counted).toEqual([{ n: 0n }]);
    reader.close();
    remove();
  });

  test("fails a late query and those queued behind it", async () => {
    const { path, remove } = openLocked();
    const reader = createWorkerReader({ path, replyMsMax: 500 });
    const asked = [reader.run(COUNT), reader.run(COUNT)];
    expect(await Promise.all(asked.map(errorCodeOf))).toEqual(["unavailable", "unavailable"]);
    reader.close();
    remove();
  });

  test("does not keep a process alive after its replies", async () => {
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, "reader-child.ts"), open.database.path],
      {
        stdout: "pipe",
        stderr: "inherit",
      },
    );
    expect(await child.exited).toBe(0);
    expect(await new Response(child.stdout).text()).toBe("1 wallets\n");
  });

  test("starts another worker after one died", async () => {
    const folder = temporaryFolder();
    const script = join(folder.path, "dying.ts");
    const source = `
      import { existsSync, writeFileSync } from "node:fs";
      import { parentPort } from "node:worker_threads";
      const mark = ${JSON.stringify(join(folder.path, "died"))};
      parentPort.on("message", ({ number }) => {
        if (existsSync(mark)) return parentPort.postMessage({ number, rows: [{ alive: true }] });
        writeFileSync(mark, "");
        process.exit(1);
      });`;
    writeFileSync(script, source);
    const reader = createWorkerReader({ path: "unused", script: pathToFileURL(script) });
    expect(await errorCodeOf(reader.run(WALLETS))).toBe("unavailable");
    expect(await reader.run(WALLETS)).toEqual([{ alive: true }]);
    reader.close();
    folder.remove();
  });

  test("fails when the file cannot be read", async () => {
    const folder = temporaryFolder();
    const missing = createWorkerReader({ path: join(folder.path, "missing.db") });
    expect(await errorCodeOf(missing.run(WALLETS))).toBe("unavailable");
    missing.close();
    const text = join(folder.path, "text.db");
    writeFileSync(text, "this is no database, and is long enough to be read as the head of one".repeat(20));
    const broken = createWorkerReader({ path: text });
    expect(await errorCodeOf(broken.run(WALLETS))).toBe("unavailable");
    broken.close();
    folder.remove();
  });

  test("fails pending and later queries when it is closed", async () => {
    const reader = createWorkerReader({ path: open.database.path });
    const asked = errorCodeOf(reader.run(WALLETS));
    reader.close();
    expect(await asked).toBe("unavailable");
    expect(await errorCodeOf(reader.run(WALLETS))).toBe("unavailable");
  });
});
