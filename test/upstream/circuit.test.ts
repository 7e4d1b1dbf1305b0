import { describe, expect, test } from "bun:test";
import { type Circuit, createCircuit, type Trial } from "../../src/upstream/circuit.ts";
import { createManualClock, type ManualClock } from "../limiter/clock.ts";

interface Tried {
  readonly circuit: Circuit;
  readonly clock: ManualClock;
  /** What `onChange` was told. */
  readonly changes: readonly boolean[];
}

function closed(): Tried {
  const clock = createManualClock();
  const changes: boolean[] = [];
  const circuit = createCircuit({
    failuresMax: 5,
    clock: clock.now,
    onChange: (isOpen) => changes.push(isOpen),
  });
  return { circuit, clock, changes };
}

function opened(): Tried {
  const tried = closed();
  fail(tried.circuit, 5);
  return tried;
}

function begin(circuit: Circuit): Trial {
  const trial = circuit.begin();
  if (!trial) throw new Error("The circuit gives no trial");
  return trial;
}

function insist(circuit: Circuit): Trial {
  const trial = circuit.insist();
  if (!trial) throw new Error("Too many insist");
  return trial;
}

function fail(circuit: Circuit, times: number): void {
  for (let left = times; left > 0; left--) begin(circuit).failed();
}

describe("a closed circuit", () => {
  test("opens on the fifth failure in a row, not before", () => {
    const { circuit, changes } = closed();
    fail(circuit, 4);
    expect(changes).toEqual([]);
    fail(circuit, 1);
    expect(changes).toEqual([true]);
    expect(circuit.begin()).toBeUndefined();
  });

  test("begins to count again after a success", () => {
    const { circuit, changes } = closed();
    fail(circuit, 4);
    begin(circuit).succeeded();
    fail(circuit, 4);
    expect(changes).toEqual([]);
  });

  test("takes an abandoned trial for neither a success nor a failure", () => {
    const { circuit, changes } = closed();
    for (let left = 100; left > 0; left--) begin(circuit).abandoned();
    fail(circuit, 4);
    begin(circuit).abandoned();
    expect(changes).toEqual([]);
    fail(circuit, 1);
    expect(changes).toEqual([true]);
  });

  test("counts a trial once, by what was told of it first", () => {
    const { circuit, changes } = closed();
    const [failed, succeeded] = [begin(circuit), begin(circuit)];
    for (let left = 5; left > 0; left--) failed.failed();
    fail(circuit, 3);
    expect(changes).toEqual([]);
    failed.succeeded();
    fail(circuit, 1);
    expect(changes).toEqual([true]);
    succeeded.succeeded();
    succeeded.failed();
    fail(circuit, 4);
    expect(changes).toEqual([true, false]);
  });

  test("opens once when a thousand that are under way fail", () => {
    const { circuit, clock, changes } = closed();
    const trials = Array.from({ length: 1000 }, () => begin(circuit));
    for (const trial of trials) trial.failed();
    expect(changes).toEqual([true]);
    clock.step(1000);
    expect(circuit.begin()).toBeDefined();
  });
});

describe("an open circuit", () => {
  test("is known to be open to who only asks, until a success closes it", () => {
    const { circuit, clock } = opened();
    expect([closed().circuit.isOpen(), circuit.isOpen()]).toEqual([false, true]);
    clock.step(60_000);
    expect(circuit.isOpen()).toBe(true);
    begin(circuit).succeeded();
    expect(circuit.isOpen()).toBe(false);
  });

  test("gives no trial for a second, then a single one", () => {
    const { circuit, clock } = opened();
    clock.step(999);
    expect(circuit.begin()).toBeUndefined();
    clock.step(1);
    expect(circuit.begin()).toBeDefined();
    expect(circuit.begin()).toBeUndefined();
  });

  test("closes when its probe succeeds", () => {
    const { circuit, clock, changes } = opened();
    clock.step(1000);
    begin(circuit).succeeded();
    expect(changes).toEqual([true, false]);
    expect([circuit.begin(), circuit.begin()]).not.toContain(undefined);
  });

  test("waits twice as long after each probe that fails, up to half a minute, counted from the failure", () => {
    const { circuit, clock, changes } = opened();
    for (const pauseMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      clock.step(pauseMs - 1);
      expect(circuit.begin()).toBeUndefined();
      clock.step(1);
      const probe = begin(circuit);
      clock.step(700);
      probe.failed();
    }
    expect(changes).toEqual([true]);
  });

  test("waits a second again when it opens anew", () => {
    const { circuit, clock, changes } = opened();
    clock.step(1000);
    fail(circuit, 1);
    clock.step(2000);
    begin(circuit).succeeded();
    fail(circuit, 5);
    expect(changes).toEqual([true, false, true]);
    clock.step(1000);
    expect(circuit.begin()).toBeDefined();
  });

  test("lets the next one probe at once when a probe was abandoned, and once only", () => {
    const { circuit, clock } = opened();
    clock.step(1000);
    const probe = begin(circuit);
    probe.abandoned();
    expect(circuit.begin()).toBeDefined();
    probe.abandoned();
    expect(circuit.begin()).toBeUndefined();
  });

  test("closes on the success of a trial that began before it opened", () => {
    const { circuit, changes } = closed();
    const early = begin(circuit);
    fail(circuit, 5);
    early.succeeded();
    expect(changes).toEqual([true, false]);
    expect(circuit.begin()).toBeDefined();
  });

  test("hears nothing new in the failure or end of a trial that began before it opened", () => {
    const { circuit, clock } = closed();
    const early = Array.from({ length: 4 }, () => begin(circuit));
    fail(circuit, 5);
    early[0]?.failed();
    early[1]?.abandoned();
    expect(circuit.begin()).toBeUndefined();
    clock.step(1000);
    const probe = begin(circuit);
    early[2]?.failed();
    early[3]?.abandoned();
    expect(circuit.begin()).toBeUndefined();
    probe.failed();
    clock.step(2000);
    expect(circuit.begin()).toBeDefined();
  });

  test("forgets the failures of before when it closes, those that are told later included", () => {
    const { circuit, clock, changes } = closed();
    const early = Array.from({ length: 10 }, () => begin(circuit));
    fail(circuit, 5);
    clock.step(1000);
    const probe = begin(circuit);
    early.pop()?.succeeded();
    probe.failed();
    for (const trial of early) trial.failed();
    fail(circuit, 4);
    expect(changes).toEqual([true, false]);
  });

  test("lets another probe beside one that has told nothing for half a minute", () => {
    const { circuit, clock, changes } = opened();
    clock.step(1000);
    const silent = begin(circuit);
    clock.step(29_999);
    expect(circuit.begin()).toBeUndefined();
    clock.step(1);
    const other = begin(circuit);
    silent.failed();
    expect(circuit.begin()).toBeUndefined();
    other.failed();
    clock.step(1999);
    expect(circuit.begin()).toBeUndefined();
    clock.step(1);
    expect(circuit.begin()).toBeDefined();
    expect(changes).toEqual([true]);
  });

  test("closes when an answer begins, and still counts how that one ended", () => {
    const { circuit, clock, changes } = opened();
    clock.step(1000);
    begin(circuit).began();
    expect(changes).toEqual([true, false]);
    for (let left = 5; left > 0; left--) {
      const trial = begin(circuit);
      trial.began();
      trial.failed();
    }
    expect(changes).toEqual([true, false, true]);
  });

  test("lets 32 at a time insist, whose failures say nothing and whose success closes it", () => {
    const { circuit, clock, changes } = opened();
    const insisting = Array.from({ length: 32 }, () => insist(circuit));
    expect(circuit.insist()).toBeUndefined();
    for (const trial of insisting.slice(0, 31)) trial.failed();
    expect(circuit.begin()).toBeUndefined();
    clock.step(1000);
    expect(circuit.begin()).toBeDefined();
    expect(circuit.insist()).toBeDefined();
    insisting.at(-1)?.succeeded();
    expect(changes).toEqual([true, false]);
  });

  test("takes who insists for the probe when that is due", () => {
    const { circuit, clock } = opened();
    clock.step(1000);
    insist(circuit).failed();
    clock.step(1999);
    expect(circuit.begin()).toBeUndefined();
    clock.step(1);
    expect(circuit.begin()).toBeDefined();
  });
});
