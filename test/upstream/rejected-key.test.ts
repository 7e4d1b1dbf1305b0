import { describe, expect, test } from "bun:test";
import { createCircuit } from "../../src/upstream/circuit.ts";

function start() {
  const clock = { nowMs: 0 };
  const changes: string[] = [];
  const onChange = (isOpen: boolean, isRejected: boolean) =>
    void changes.push(`${isOpen ? "open" : "closed"}${isRejected ? " rejected" : ""}`);
  return { clock, changes, circuit: createCircuit({ failuresMax: 5, clock: () => clock.nowMs, onChange }) };
}

describe("the circuit of a rejected key", () => {
  test("opens at once and is probed after a minute, then after twice the time, up to ten minutes", () => {
    const { circuit, clock, changes } = start();
    circuit.acquire()?.rejected();
    expect(changes).toEqual(["open rejected"]);
    for (const waitMs of [60_000, 120_000, 240_000, 480_000, 600_000, 600_000]) {
      clock.nowMs += waitMs - 1;
      expect(circuit.acquire()).toBeUndefined();
      clock.nowMs += 1;
      circuit.acquire()?.rejected();
    }
    expect(changes).toEqual(["open rejected"]);
    expect(circuit.status()).toMatchObject({ state: "open", isRejected: true });
  });

  test("is not closed by calls from before, whose streams end well", () => {
    const { circuit } = start();
    const running = circuit.acquire();
    circuit.acquire()?.rejected();
    running?.began();
    running?.succeeded();
    expect(circuit.isOpen()).toBe(true);
  });

  test("is closed by a probe that is accepted, and by an operator", () => {
    const { circuit, clock, changes } = start();
    circuit.acquire()?.rejected();
    clock.nowMs += 60_000;
    circuit.acquire()?.succeeded();
    circuit.acquire()?.rejected();
    circuit.force("closed");
    expect(changes).toEqual(["open rejected", "closed", "open rejected", "closed"]);
  });

  test("stays open by an operator's force when a call is rejected", () => {
    const { circuit, clock } = start();
    circuit.force("open");
    circuit.forceAcquire()?.rejected();
    clock.nowMs += 3_600_000;
    expect(circuit.acquire()).toBeUndefined();
  });
});

test("failures of the host open the circuits of keys that were not called", () => {
  const { circuit, changes } = start();
  for (let left = 5; left > 0; left -= 1) circuit.countFailure();
  circuit.countFailure();
  expect(changes).toEqual(["open"]);
});
