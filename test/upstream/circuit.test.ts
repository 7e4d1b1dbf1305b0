import { describe, expect, test } from "bun:test";
import { type Circuit, createCircuit } from "../../src/upstream/circuit.ts";
import type { Permit } from "../../src/upstream/circuit-phases.ts";
import { createManualClock, type ManualClock } from "../limiter/manual-clock.ts";

interface CircuitFixture {
  readonly circuit: Circuit;
  readonly clock: ManualClock;
  /** Arguments of `onChange`, in order. */
  readonly changes: readonly boolean[];
}

function closed(): CircuitFixture {
  const clock = createManualClock();
  const changes: boolean[] = [];
  const circuit = createCircuit({
    failuresMax: 5,
    clock: clock.now,
    onChange: (isOpen) => changes.push(isOpen),
  });
  return { circuit, clock, changes };
}

function opened(): CircuitFixture {
  const fixture = closed();
  fail(fixture.circuit, 5);
  return fixture;
}

function acquire(circuit: Circuit): Permit {
  const permit = circuit.acquire();
  if (!permit) throw new Error("The circuit gives no permit");
  return permit;
}

function forceAcquire(circuit: Circuit): Permit {
  const permit = circuit.forceAcquire();
  if (!permit) throw new Error("The circuit gives no forced permit");
  return permit;
}

function fail(circuit: Circuit, times: number): void {
  for (let left = times; left > 0; left--) acquire(circuit).failed();
}

describe("a closed circuit", () => {
  test("opens on the fifth consecutive failure", () => {
    const { circuit, changes } = closed();
    fail(circuit, 4);
    expect(changes).toEqual([]);
    fail(circuit, 1);
    expect(changes).toEqual([true]);
    expect(circuit.acquire()).toBeUndefined();
  });

  test("counts failures from zero after a success", () => {
    const { circuit, changes } = closed();
    fail(circuit, 4);
    acquire(circuit).succeeded();
    fail(circuit, 4);
    expect(changes).toEqual([]);
  });

  test("counts an abandoned permit neither as a success nor as a failure", () => {
    const { circuit, changes } = closed();
    for (let left = 100; left > 0; left--) acquire(circuit).abandoned();
    fail(circuit, 4);
    acquire(circuit).abandoned();
    expect(changes).toEqual([]);
    fail(circuit, 1);
    expect(changes).toEqual([true]);
  });

  test("counts only the first outcome of a permit", () => {
    const { circuit, changes } = closed();
    const [failed, succeeded] = [acquire(circuit), acquire(circuit)];
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

  test("opens once when a thousand running calls fail", () => {
    const { circuit, clock, changes } = closed();
    const permits = Array.from({ length: 1000 }, () => acquire(circuit));
    for (const permit of permits) permit.failed();
    expect(changes).toEqual([true]);
    clock.step(1000);
    expect(circuit.acquire()).toBeDefined();
  });
});

describe("an open circuit", () => {
  test("reports isOpen until a success closes it", () => {
    const { circuit, clock } = opened();
    expect([closed().circuit.isOpen(), circuit.isOpen()]).toEqual([false, true]);
    clock.step(60_000);
    expect(circuit.isOpen()).toBe(true);
    acquire(circuit).succeeded();
    expect(circuit.isOpen()).toBe(false);
  });

  test("gives no permit for a second, then a single one", () => {
    const { circuit, clock } = opened();
    clock.step(999);
    expect(circuit.acquire()).toBeUndefined();
    clock.step(1);
    expect(circuit.acquire()).toBeDefined();
    expect(circuit.acquire()).toBeUndefined();
  });

  test("closes when its probe succeeds", () => {
    const { circuit, clock, changes } = opened();
    clock.step(1000);
    acquire(circuit).succeeded();
    expect(changes).toEqual([true, false]);
    expect([circuit.acquire(), circuit.acquire()]).not.toContain(undefined);
  });

  test("doubles the wait after each failed probe up to 30 seconds, counted from the failure", () => {
    const { circuit, clock, changes } = opened();
    for (const pauseMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      clock.step(pauseMs - 1);
      expect(circuit.acquire()).toBeUndefined();
      clock.step(1);
      const probe = acquire(circuit);
      clock.step(700);
      probe.failed();
    }
    expect(changes).toEqual([true]);
  });

  test("waits one second again when it opens again", () => {
    const { circuit, clock, changes } = opened();
    clock.step(1000);
    fail(circuit, 1);
    clock.step(2000);
    acquire(circuit).succeeded();
    fail(circuit, 5);
    expect(changes).toEqual([true, false, true]);
    clock.step(1000);
    expect(circuit.acquire()).toBeDefined();
  });

  test("gives the next probe at once when a probe was abandoned, and only one", () => {
    const { circuit, clock } = opened();
    clock.step(1000);
    const probe = acquire(circuit);
    probe.abandoned();
    expect(circuit.acquire()).toBeDefined();
    probe.abandoned();
    expect(circuit.acquire()).toBeUndefined();
  });

  test("closes on the success of a permit that began before it opened", () => {
    const { circuit, changes } = closed();
    const early = acquire(circuit);
    fail(circuit, 5);
    early.succeeded();
    expect(changes).toEqual([true, false]);
    expect(circuit.acquire()).toBeDefined();
  });

  test("ignores the failure or abandonment of a permit that began before it opened", () => {
    const { circuit, clock } = closed();
    const early = Array.from({ length: 4 }, () => acquire(circuit));
    fail(circuit, 5);
    early[0]?.failed();
    early[1]?.abandoned();
    expect(circuit.acquire()).toBeUndefined();
    clock.step(1000);
    const probe = acquire(circuit);
    early[2]?.failed();
    early[3]?.abandoned();
    expect(circuit.acquire()).toBeUndefined();
    probe.failed();
    clock.step(2000);
    expect(circuit.acquire()).toBeDefined();
  });

  test("drops earlier failures when it closes, including those reported later", () => {
    const { circuit, clock, changes } = closed();
    const early = Array.from({ length: 10 }, () => acquire(circuit));
    fail(circuit, 5);
    clock.step(1000);
    const probe = acquire(circuit);
    early.pop()?.succeeded();
    probe.failed();
    for (const permit of early) permit.failed();
    fail(circuit, 4);
    expect(changes).toEqual([true, false]);
  });

  test("gives a second probe when the first has reported nothing for 30 seconds", () => {
    const { circuit, clock, changes } = opened();
    clock.step(1000);
    const silent = acquire(circuit);
    clock.step(29_999);
    expect(circuit.acquire()).toBeUndefined();
    clock.step(1);
    const other = acquire(circuit);
    silent.failed();
    expect(circuit.acquire()).toBeUndefined();
    other.failed();
    clock.step(1999);
    expect(circuit.acquire()).toBeUndefined();
    clock.step(1);
    expect(circuit.acquire()).toBeDefined();
    expect(changes).toEqual([true]);
  });

  test("closes when a response begins, and still counts its outcome", () => {
    const { circuit, clock, changes } = opened();
    clock.step(1000);
    acquire(circuit).began();
    expect(changes).toEqual([true, false]);
    for (let left = 5; left > 0; left--) {
      const permit = acquire(circuit);
      permit.began();
      permit.failed();
    }
    expect(changes).toEqual([true, false, true]);
  });

  test("gives 32 forced permits at a time, ignores their failures and closes on their success", () => {
    const { circuit, clock, changes } = opened();
    const forced = Array.from({ length: 32 }, () => forceAcquire(circuit));
    expect(circuit.forceAcquire()).toBeUndefined();
    for (const permit of forced.slice(0, 31)) permit.failed();
    expect(circuit.acquire()).toBeUndefined();
    clock.step(1000);
    expect(circuit.acquire()).toBeDefined();
    expect(circuit.forceAcquire()).toBeDefined();
    forced.at(-1)?.succeeded();
    expect(changes).toEqual([true, false]);
  });

  test("gives a forced permit as the probe when a probe is due", () => {
    const { circuit, clock } = opened();
    clock.step(1000);
    forceAcquire(circuit).failed();
    clock.step(1999);
    expect(circuit.acquire()).toBeUndefined();
    clock.step(1);
    expect(circuit.acquire()).toBeDefined();
  });
});
