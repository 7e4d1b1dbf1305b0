import { describe, expect, test } from "bun:test";
import { createCircuit } from "../../src/upstream/circuit.ts";

function start() {
  const clock = { nowMs: 0 };
  const changes: boolean[] = [];
  const onChange = (isOpen: boolean) => void changes.push(isOpen);
  const circuit = createCircuit({ failuresMax: 3, clock: () => clock.nowMs, onChange });
  const fail = (accountId: string, times = 1) => {
    for (let left = times; left > 0; left -= 1) circuit.acquire(accountId)?.failed();
  };
  return { clock, changes, circuit, fail };
}

describe("a circuit that one account's requests have opened", () => {
  test("withholds the calls of that account only", () => {
    const { circuit, fail, changes } = start();
    fail("one", 3);
    expect(changes).toEqual([true]);
    expect([circuit.isOpen("one"), circuit.isOpen("other"), circuit.isOpen()]).toEqual([true, false, true]);
    expect(circuit.acquire("one")).toBeUndefined();
    expect(circuit.waitMs("one")).toBe(1_000);
    expect(circuit.acquire("other")).toBeDefined();
    expect(circuit.waitMs("other")).toBe(0);
  });

  test("opens for all when a call of another account fails as well", () => {
    const { circuit, fail, changes } = start();
    fail("one", 3);
    fail("other");
    expect(circuit.acquire("third")).toBeUndefined();
    expect(changes).toEqual([true]);
  });

  test("withholds the calls of every account of one person, until another one fails", () => {
    const { circuit, fail } = start();
    fail("one", 2);
    expect(circuit.metOnlyBy()).toEqual(["one"]);
    circuit.acquire("two")?.failed(true);
    expect([circuit.isOpen("one"), circuit.isOpen("two"), circuit.isOpen("other")]).toEqual([
      true,
      true,
      false,
    ]);
    circuit.acquire("three")?.failed(true);
    expect(circuit.metOnlyBy()).toEqual(["one", "two", "three"]);
    fail("other");
    expect(circuit.metOnlyBy()).toBeUndefined();
    expect(circuit.isOpen("any")).toBe(true);
  });

  test("forgets who met failures before a success, and opens for all beside a failure of the host", () => {
    const { circuit, fail } = start();
    fail("one", 2);
    circuit.acquire("other")?.succeeded();
    expect(circuit.metOnlyBy()).toBeUndefined();
    circuit.countFailure();
    circuit.acquire("one")?.failed(true);
    circuit.acquire("two")?.failed(true);
    expect(circuit.isOpen("other")).toBe(true);
  });

  test("is closed by a success of any account", () => {
    const { circuit, fail, changes } = start();
    fail("one", 3);
    circuit.acquire("other")?.succeeded();
    expect(circuit.acquire("one")).toBeDefined();
    expect(changes).toEqual([true, false]);
  });

  test("is probed by that account after the usual pause", () => {
    const { circuit, fail, clock } = start();
    fail("one", 3);
    clock.nowMs = 1_000;
    expect(circuit.acquire("one")).toBeDefined();
    expect(circuit.acquire("one")).toBeUndefined();
  });
});

describe("a circuit opens for all", () => {
  test("when the failures in a row are of several accounts", () => {
    const { circuit, fail } = start();
    fail("one", 2);
    fail("other");
    expect(circuit.acquire("third")).toBeUndefined();
  });

  test("when the host could not be reached in one of them", () => {
    const { circuit, fail } = start();
    fail("one");
    circuit.acquire("one")?.hostFailed();
    fail("one");
    expect(circuit.acquire("other")).toBeUndefined();
  });
});
