import { beforeAll, describe, expect, test } from "bun:test";
import {
  findAnsweredTwice,
  findReceiptMismatches,
  findUnexplained,
  findUnknownAnswers,
  findWrongCharges,
} from "./check-evidence.ts";
import { type Evidence, NOTHING_LEFT, runStorm } from "./run-storm.ts";
import { TOP_UP } from "./storm-gateway.ts";

const REQUESTS = 20_000;
/** Until the code is compiled, the heap has its size, and the tokenizer is loaded: some seconds at full load. */
const WARM_UP = 3_000;
/** Idle connections that Bun keeps, on either side, and what worker threads bring. */
const IDLE_SOCKETS = 64;
const THREADS = 16;

const seed = process.env.STORM_SEED ?? crypto.randomUUID();
const conditions = { seed, good: 0.72, patient: 0.7 };

let evidence: Evidence;
beforeAll(async () => {
  console.log(`The storm of STORM_SEED=${seed}`);
  evidence = await runStorm({ conditions, warmUp: WARM_UP, requests: REQUESTS, callers: 128 });
});

describe("20,000 requests through three flaky upstreams", () => {
  test("end each in one way that the contract allows", () => {
    const { seen } = evidence;
    expect(seen.filter(({ ended }) => ended === "wrong").slice(0, 10)).toEqual([]);
    expect(new Set(seen.map(({ number }) => number)).size).toBe(WARM_UP + REQUESTS);
  });

  test("are a storm: most are answered all the same, many by another route than the first", () => {
    const { seen, books, log } = evidence;
    const count = (how: string) => seen.filter(({ ended }) => ended === how).length;
    expect(count("finished")).toBeGreaterThan(seen.length / 2);
    expect(count("failed")).toBeGreaterThan(seen.length / 100);
    expect(count("left")).toBeGreaterThan(seen.length / 100);
    const movedOn = books.receipts.filter(
      ({ outcome, attempts }) => outcome === "ok" && JSON.parse(attempts ?? "[]").length > 1,
    );
    expect(movedOn.length).toBeGreaterThan(seen.length / 50);
    expect(log.some((line) => JSON.parse(line).msg === "circuit opened")).toBe(true);
    expect(log.some((line) => JSON.parse(line).msg === "circuit closed")).toBe(true);
  });

  test("have receipts that say what their clients saw, and no request has two", () => {
    const { seen, books } = evidence;
    expect(findReceiptMismatches(evidence).slice(0, 10)).toEqual([]);
    const ids = seen.flatMap(({ requestId }) => requestId ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    // Who left before the headers does not know its receipt, and has none when nobody had begun.
    expect(books.receipts.length).toBeWithin(ids.length, seen.length + 1);
  });

  test("pay one upstream for one answer, at its price", () => {
    expect(findWrongCharges(evidence).slice(0, 10)).toEqual([]);
    expect(findUnknownAnswers(evidence)).toEqual([]);
    // An answer that comes just when its time is over is given for nothing, to nobody.
    expect(findAnsweredTwice(evidence).length).toBeLessThan(REQUESTS / 100);
  });

  test("take from the wallets what is on the receipts, to the nano, and hold nothing", () => {
    const { wallets, receipts } = evidence.books;
    expect(wallets.map(({ posted }) => posted)).toEqual(wallets.map(({ captured }) => TOP_UP - captured));
    expect(wallets.map(({ held }) => held)).toEqual([0n, 0n, 0n]);
    expect(receipts.filter(({ state }) => state === "held")).toEqual([]);
    for (const audit of evidence.audits) {
      expect(audit).toMatchObject({ ok: true, findings: [], warnings: [], journals: [] });
    }
  });

  test("leave no call, no slot and no socket in use", () => {
    const { leftovers, sockets, descriptors, exitCode } = evidence;
    expect(leftovers).toEqual(NOTHING_LEFT);
    expect(sockets.idle).toBeLessThanOrEqual(IDLE_SOCKETS);
    expect(descriptors.idle).toBeLessThanOrEqual(descriptors.before + 2 * IDLE_SOCKETS + THREADS);
    expect(sockets.ended).toBe(0);
    expect(exitCode).toBe(0);
  });

  test("leave the memory as it was after the warm-up, give or take a fifth", () => {
    const { beforeMb, afterMb } = evidence.memory;
    expect(afterMb).toBeLessThan(beforeMb * 1.2);
  });

  test("leave a reason in the log for each attempt that failed, no fault of ours, and nothing of an answer or a secret", () => {
    expect(findUnexplained(evidence).slice(0, 3)).toEqual([]);
    const isFault = ({ level, msg }: { level: number; msg: string }) =>
      level >= 50 && msg !== "usage above bound";
    const faults = evidence.log.filter((line) => isFault(JSON.parse(line)));
    expect(faults.slice(0, 3)).toEqual([]);
    expect(evidence.log.filter((line) => /says to|provider-secret|sk-tg-/.test(line)).slice(0, 3)).toEqual(
      [],
    );
  });
});
