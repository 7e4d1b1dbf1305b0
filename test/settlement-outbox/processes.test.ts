import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { WALLET } from "../ledger/samples.ts";
import { FUNDS, type OutboxFixture, openOutboxFixture, until } from "./fixture.ts";

let books: OutboxFixture;
beforeEach(async () => {
  books = await openOutboxFixture();
});
afterEach(() => books.close());

const CHILD = `${import.meta.dir}/outbox-child.ts`;

interface Child {
  /** Every line of it so far. */
  lines(): readonly string[];
  /** Kills it, and resolves when it is dead and all is read that it said. */
  kill(): Promise<void>;
}

/** Starts a process that journals settlements of 10 for the holds "PREFIX-0" … that are taken here. */
async function startChild(prefix: string, count: number, shell = 'exec "$0" "$@"'): Promise<Child> {
  for (let index = 0; index < count; index++) await books.heldFor(`${prefix}-${index}`);
  const command = [process.execPath, CHILD, books.folder, prefix, `${count}`];
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

const takenBy = (child: Child) => child.lines().filter((line) => line.endsWith(" taken")).length;

async function posted(): Promise<bigint> {
  return (await books.open.ledger.balances(WALLET)).posted;
}

function pathOfJournal(): string {
  const [name = ""] = books.files().filter((each) => each.endsWith(".db"));
  return join(books.folder, "journal", name);
}

describe("a process that is killed", () => {
  test("leaves all that it had acknowledged to the next one, which books each once", async () => {
    const child = await startChild("k", 400);
    await until(() => takenBy(child) >= 50);
    await child.kill();
    const taken = takenBy(child);

    const next = books.journal();
    await until(
      () => books.files().length === 4 && next.pending() === 0 && findOutboxes(books.folder).length === 0,
    );
    const booked = (FUNDS - (await posted())) / 10n;
    // One more may have come to the disk without being acknowledged.
    expect(Number(booked)).toBeWithin(taken, taken + 2);
    expect((await books.open.ledger.balances(WALLET)).held).toBe((400n - booked) * 10n);
  });

  test("leaves it to one that lives beside it, but not before it is dead", async () => {
    const neighbour = books.journal();
    const child = await startChild("n", 20);
    await until(() => child.lines().at(-1) === "all");
    expect(findOutboxes(books.folder)).toMatchObject([{ entries: 20 }]);
    await Bun.sleep(60);
    expect(await posted()).toBe(FUNDS);
    expect(neighbour.pending()).toBe(0);
    await child.kill();
    await until(() => findOutboxes(books.folder).length === 0);
    expect(await posted()).toBe(FUNDS - 200n);
  });

  test("is followed by one of several, and nothing is booked twice", async () => {
    const child = await startChild("s", 50);
    await until(() => child.lines().at(-1) === "all");
    await child.kill();
    const followers = [1, 2, 3].map(() => books.journal());
    await until(() => findOutboxes(books.folder).length === 0);
    expect(await posted()).toBe(FUNDS - 500n);
    expect(books.ledger.asked).toBe(50);
    for (const follower of followers) await follower.close();
    expect(books.files()).toEqual([]);
  });
});

describe("a log whose tail was torn", () => {
  const damages: readonly (readonly [string, number, (wal: string) => void])[] = [
    ["is cut in its last frame", 29, (wal) => truncateSync(wal, readFileSync(wal).length - 100)],
    ["has garbage behind its end", 30, (wal) => appendFileSync(wal, Buffer.alloc(3_000, 7))],
    ["has flipped bytes in its last frame", 29, (wal) => flip(wal, readFileSync(wal).length - 2_000)],
  ];

  test.each(damages)("and %s gives back what was acknowledged before that", async (_name, left, damage) => {
    const child = await startChild("t", 30);
    await until(() => child.lines().at(-1) === "all");
    await child.kill();
    damage(`${pathOfJournal()}-wal`);
    const next = books.journal();
    await until(() => findOutboxes(books.folder).length === 0 && next.pending() === 0);
    expect(FUNDS - (await posted())).toBe(BigInt(left) * 10n);
    expect(books.log.text()).not.toContain('"error"');
  });
});

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  const descriptor = openSync(path, "r+");
  writeSync(descriptor, Buffer.from(bytes.subarray(at, at + 8).map((byte) => byte ^ 0xff)), 0, 8, at);
}

test("a disk that is full refuses entries, and what was taken before is booked", async () => {
  // The shell ignores the signal that would end the process, so that a write beyond 96 KiB just fails.
  const child = await startChild("f", 300, `trap "" XFSZ; ulimit -f 192; exec "$0" "$@"`);
  await until(() => child.lines().at(-1) === "all");
  await child.kill();
  const refused = child.lines().filter((line) => line.endsWith("refused: SettlementOutboxError"));
  expect(takenBy(child)).toBeGreaterThan(0);
  expect(refused.length).toBeGreaterThan(0);
  expect(takenBy(child) + refused.length).toBe(300);
  const next = books.journal();
  await until(() => findOutboxes(books.folder).length === 0 && next.pending() === 0);
  expect(Number((FUNDS - (await posted())) / 10n)).toBeWithin(takenBy(child), 301);
});
