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

const REQUESTS = 10_000;
/** Until the code is compiled, the heap has grown and the tokenizer is loaded: some seconds at full load. */
const WARM_UP = 3_000;
/** Connections that Bun keeps idle on either side, and descriptors of worker threads. */
const IDLE_SOCKETS = 64;
const THREADS = 16;

const seed = process.env.STORM_SEED ?? crypto.randomUUID();
const conditions = { seed, goodAnswers: 0.72, steadyReaders: 0.7 };

let evidence: Evidence;
beforeAll(async () => {
  console.log(`The storm of STORM_SEED=${seed}`);
  evidence = await runStorm({ conditions, warmUp: WARM_UP, requests: REQUESTS, callers: 128 });
});

describe("10,000 requests to three flaky upstreams", () => {
  test("end in one of the ways that the contract allows", () => {
    const { seen } = evidence;
    expect(seen.filter(({ ended }) => ended === "wrong").slice(0, 10)).toEqual([]);
    expect(new Set(seen.map(({ number }) => number)).size).toBe(WARM_UP + REQUESTS);
  });

  test("are mostly answered, many of them after a failover", () => {
    const { seen, ledger, log } = evidence;
    const count = (how: string) => seen.filter(({ ended }) => ended === how).length;
    expect(count("finished")).toBeGreaterThan(seen.length / 2);
    expect(count("failed")).toBeGreaterThan(seen.length / 100);
    expect(count("left")).toBeGreaterThan(seen.length / 100);
    const movedOn = ledger.receipts.filter(
      ({ outcome, attempts }) => outcome === "ok" && JSON.parse(attempts ?? "[]").length > 1,
    );
    expect(movedOn.length).toBeGreaterThan(seen.length / 50);
    expect(log.some((line) => JSON.parse(line).msg === "circuit opened")).toBe(true);
    expect(log.some((line) => JSON.parse(line).msg === "circuit closed")).toBe(true);
  });

  test("have one receipt each, which agrees with what the client saw", () => {
    const { seen, ledger } = evidence;
    expect(findReceiptMismatches(evidence).slice(0, 10)).toEqual([]);
    const ids = seen.flatMap(({ requestId }) => requestId ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    // A client that left before the headers does not know its receipt, and may have none.
    expect(ledger.receipts.length).toBeWithin(ids.length, seen.length + 1);
  });

  test("pay one upstream for one answer, at its price", () => {
    expect(findWrongCharges(evidence).slice(0, 10)).toEqual([]);
    expect(findUnknownAnswers(evidence)).toEqual([]);
    // An answer that arrives at the timeout is discarded and free.
    expect(findAnsweredTwice(evidence)).toEqual([]);
  });

  test("charge the wallets exactly what the receipts captured, and leave no hold", () => {
    const { wallets, receipts } = evidence.ledger;
    expect(wallets.map(({ posted }) => posted)).toEqual(wallets.map(({ captured }) => TOP_UP - captured));
    expect(wallets.map(({ held }) => held)).toEqual([0n, 0n, 0n]);
    expect(receipts.filter(({ state }) => state === "held")).toEqual([]);
    for (const audit of evidence.audits) {
      expect(audit).toMatchObject({ ok: true, findings: [], warnings: [], journals: [] });
    }
  });

  test("leave no upstream call, concurrency slot or socket in use", () => {
    const { leftovers, sockets, descriptors, exitCode } = evidence;
    expect(leftovers).toEqual(NOTHING_LEFT);
    expect(sockets.idle).toBeLessThanOrEqual(IDLE_SOCKETS);
    expect(descriptors.idle).toBeLessThanOrEqual(descriptors.before + 2 * IDLE_SOCKETS + THREADS);
    expect(sockets.ended).toBe(0);
    expect(exitCode).toBe(0);
  });

  test("leave the memory at most a fifth larger than after the warm-up", () => {
    const { beforeMb, afterMb } = evidence.memory;
    expect(afterMb).toBeLessThan(beforeMb * 1.2);
  });

  test("log a reason for each failed attempt, no internal error, and no answer text or secret", () => {
    expect(findUnexplained(evidence).slice(0, 3)).toEqual([]);
    const isFault = ({ level, msg }: { level: number; msg: string }) =>
      level >= 50 && msg !== "usage above bound";
    const faults = evidence.log.filter((line) => isFault(JSON.parse(line)));
    expect(faults.slice(0, 3)).toEqual([]);
    expect(
      evidence.log.filter((line) => /says to|provider-secret|sk-tg-[\w-]{5}/.test(line)).slice(0, 3),
    ).toEqual([]);
  });
});
