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

describe("the worker reader", () => {
  const countTo = (n: number) => ({
    sql: "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1) SELECT max(n) AS n FROM n",
    values: [n],
  });

  test("does not block the event loop", async () => {
    const reader = createWorkerReader({ path: open.database.path });
    await reader.run(countTo(1));
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    const [row] = await reader.run(countTo(2_000_000));
    clearInterval(counting);
    expect(row).toEqual({ n: 2_000_000n });
    expect(turns).toBeGreaterThan(5);
    reader.close();
  });

  test("fails a late query and those queued behind it", async () => {
    const reader = createWorkerReader({ path: open.database.path, replyMsMax: 500 });
    const asked = [reader.run(countTo(15_000_000)), reader.run(countTo(1))];
    expect(await Promise.all(asked.map(errorCodeOf))).toEqual(["unavailable", "unavailable"]);
    reader.close();
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
    expect(await errorCodeOf(reader.run(countTo(1)))).toBe("unavailable");
    expect(await reader.run(countTo(1))).toEqual([{ alive: true }]);
    reader.close();
    folder.remove();
  });

  test("fails when the file cannot be read", async () => {
    const folder = temporaryFolder();
    const missing = createWorkerReader({ path: join(folder.path, "missing.db") });
    expect(await errorCodeOf(missing.run(countTo(1)))).toBe("unavailable");
    missing.close();
    const text = join(folder.path, "text.db");
    writeFileSync(text, "this is no database, and is long enough to be read as the head of one".repeat(20));
    const broken = createWorkerReader({ path: text });
    expect(await errorCodeOf(broken.run({ sql: "SELECT * FROM wallets", values: [] }))).toBe("unavailable");
    broken.close();
    folder.remove();
  });

  test("fails pending and later queries when it is closed", async () => {
    const reader = createWorkerReader({ path: open.database.path });
    const asked = errorCodeOf(reader.run(countTo(5_000_000)));
    reader.close();
    expect(await asked).toBe("unavailable");
    expect(await errorCodeOf(reader.run(countTo(1)))).toBe("unavailable");
  });
});
