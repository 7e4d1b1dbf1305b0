import { describe, expect, test } from "bun:test";
import { createCircuit } from "../../src/upstream/circuit.ts";

function openCircuit() {
  const clock = { nowMs: 0 };
  const changes: boolean[] = [];
  const options = {
    failuresMax: 2,
    clock: () => clock.nowMs,
    onChange: (isOpen: boolean) => changes.push(isOpen),
  };
  return { clock, changes, circuit: createCircuit(options) };
}

describe("a circuit that an operator forces", () => {
  test("stays open whatever its calls report, and gives no probe", () => {
    const { circuit, clock, changes } = openCircuit();
    const running = circuit.acquire();
    circuit.force("open");
    running?.began();
    running?.succeeded();
    clock.nowMs += 3_600_000;
    expect(circuit.acquire()).toBeUndefined();
    expect(circuit.isOpen()).toBe(true);
    expect(circuit.status()).toEqual({
      state: "open",
      isForced: true,
      isRejected: false,
      probeInMs: undefined,
      failures: 0,
      running: 0,
    });
    expect(changes).toEqual([true]);
  });

  test("still serves a request that has no other route, whose success does not close it", () => {
    const { circuit } = openCircuit();
    circuit.force("open");
    const permit = circuit.forceAcquire();
    expect(circuit.status().running).toBe(1);
    permit?.began();
    permit?.succeeded();
    expect(circuit.status()).toMatchObject({ state: "open", running: 0 });
  });

  test("closes when the operator closes it, and counts failures anew", () => {
    const { circuit, changes } = openCircuit();
    circuit.acquire()?.failed();
    circuit.force("open");
    circuit.force("closed");
    expect(circuit.status()).toMatchObject({ state: "closed", isForced: false, failures: 0 });
    expect(circuit.acquire()).toBeDefined();
    circuit.force("closed");
    expect(changes).toEqual([true, false]);
  });

  test("an open circuit probes at once when asked, and a forced one does not", () => {
    const { circuit } = openCircuit();
    circuit.acquire()?.failed();
    circuit.acquire()?.failed();
    expect(circuit.status()).toMatchObject({ state: "open", probeInMs: 1_000 });
    circuit.probeNow();
    expect(circuit.status().state).toBe("half_open");
    const probe = circuit.acquire();
    expect(circuit.status()).toMatchObject({ state: "half_open", running: 1 });
    probe?.succeeded();
    expect(circuit.status().state).toBe("closed");
    circuit.force("open");
    circuit.probeNow();
    expect(circuit.acquire()).toBeUndefined();
  });

  test("counts each permit as running until its first report", () => {
    const { circuit } = openCircuit();
    const permits = [circuit.acquire(), circuit.acquire(), circuit.acquire()];
    expect(circuit.status().running).toBe(3);
    for (const permit of permits) {
      permit?.abandoned();
      permit?.failed();
    }
    expect(circuit.status()).toMatchObject({ running: 0, failures: 0 });
  });
});
