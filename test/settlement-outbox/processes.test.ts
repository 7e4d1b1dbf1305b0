import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { WALLET } from "../ledger/samples.ts";
import { until } from "../support/until.ts";
import { FUNDS, type OutboxFixture, openOutboxFixture } from "./fixture.ts";

let env: OutboxFixture;
beforeEach(async () => {
  env = await openOutboxFixture();
});
afterEach(() => env.close());

const CHILD = `${import.meta.dir}/outbox-child.ts`;

interface Child {
  /** The complete lines on stdout so far. */
  lines(): readonly string[];
  /** Kills the process. Resolves when it has exited and stdout is read to its end. */
  kill(): Promise<void>;
}

/** Takes the holds "PREFIX-0" …, and starts a process that appends a settlement of 10 for each. */
async function startChild(prefix: string, count: number, shell = 'exec "$0" "$@"'): Promise<Child> {
  for (let index = 0; index < count; index++) await env.heldEntry(`${prefix}-${index}`);
  const command = [process.execPath, CHILD, env.folder, prefix, `${count}`];
  const child = Bun.spawn(["sh", "-c", shell, ...command], { stdout: "pipe", stderr: "inherit" });
  let text = "";
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) text += decoder.decode(chunk, { stream: true });
  };
  const ended = read();
  return {
    lines: () => text.split("\n").slice(0, -1),
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
      await ended;
    },
  };
}

const appendedBy = (child: Child) => child.lines().filter((line) => line.endsWith(" appended")).length;

async function posted(): Promise<bigint> {
  return (await env.storage.ledger.balances(WALLET)).posted;
}

function pathOfOutbox(): string {
  const [name = ""] = env.files().filter((each) => each.endsWith(".db"));
  return join(env.folder, "journal", name);
}

describe("a process that is killed", () => {
  test("leaves its acknowledged entries to the next process, which settles each once", async () => {
    const child = await startChild("k", 400);
    await until(() => appendedBy(child) >= 50);
    await child.kill();
    const appended = appendedBy(child);

    const next = env.outbox();
    await until(
      () => env.files().length === 4 && next.pending() === 0 && findOutboxes(env.folder).length === 0,
    );
    const settled = (FUNDS - (await posted())) / 10n;
    // One more entry may be on disk without an acknowledgement.
    expect(Number(settled)).toBeWithin(appended, appended + 2);
    expect((await env.storage.ledger.balances(WALLET)).held).toBe((400n - settled) * 10n);
  });

  test("leaves its entries to a running process, but not before it is dead", async () => {
    const running = env.outbox();
    const child = await startChild("n", 20);
    await until(() => child.lines().at(-1) === "done");
    expect(findOutboxes(env.folder)).toMatchObject([{ entries: 20 }]);
    await Bun.sleep(60);
    expect(await posted()).toBe(FUNDS);
    expect(running.pending()).toBe(0);
    await child.kill();
    await until(() => findOutboxes(env.folder).length === 0);
    expect(await posted()).toBe(FUNDS - 200n);
  });

  test("is adopted by one of several processes, and nothing is settled twice", async () => {
    const child = await startChild("s", 50);
    await until(() => child.lines().at(-1) === "done");
    await child.kill();
    const followers = [1, 2, 3].map(() => env.outbox());
    await until(() => findOutboxes(env.folder).length === 0);
    expect(await posted()).toBe(FUNDS - 500n);
    expect(env.ledger.calls).toBe(50);
    for (const follower of followers) await follower.close();
    expect(env.files()).toEqual([]);
  });
});

describe("a WAL with a damaged tail", () => {
  const damages: readonly (readonly [string, number, (wal: string) => void])[] = [
    ["is cut in its last frame", 29, (wal) => truncateSync(wal, readFileSync(wal).length - 100)],
    ["has garbage behind its end", 30, (wal) => appendFileSync(wal, Buffer.alloc(3_000, 7))],
    ["has flipped bytes in its last frame", 29, (wal) => flip(wal, readFileSync(wal).length - 2_000)],
  ];

  test.each(damages)("that %s keeps the entries before the damage", async (_name, left, damage) => {
    const child = await startChild("t", 30);
    await until(() => child.lines().at(-1) === "done");
    await child.kill();
    damage(`${pathOfOutbox()}-wal`);
    const next = env.outbox();
    await until(() => findOutboxes(env.folder).length === 0 && next.pending() === 0);
    expect(FUNDS - (await posted())).toBe(BigInt(left) * 10n);
    expect(env.log.text()).not.toContain('"error"');
  });
});

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, Buffer.from(bytes.subarray(at, at + 8).map((byte) => byte ^ 0xff)), 0, 8, at);
}

test("a full disk rejects entries, and those appended before are settled", async () => {
  // The shell ignores SIGXFSZ, so that a write beyond 96 KiB fails without ending the process.
  const child = await startChild("f", 300, `trap "" XFSZ; ulimit -f 192; exec "$0" "$@"`);
  await until(() => child.lines().at(-1) === "done");
  await child.kill();
  const rejected = child.lines().filter((line) => line.endsWith("rejected: SettlementOutboxError"));
  expect(appendedBy(child)).toBeGreaterThan(0);
  expect(rejected.length).toBeGreaterThan(0);
  expect(appendedBy(child) + rejected.length).toBe(300);
  const next = env.outbox();
  await until(() => findOutboxes(env.folder).length === 0 && next.pending() === 0);
  expect(Number((FUNDS - (await posted())) / 10n)).toBeWithin(appendedBy(child), 301);
});
