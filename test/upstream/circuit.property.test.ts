import { expect, test } from "bun:test";
import fc from "fast-check";
import { createCircuit } from "../../src/upstream/circuit.ts";
import type { Permit } from "../../src/upstream/circuit-phases.ts";
import { createManualClock } from "../limiter/manual-clock.ts";
import { createModel, type Verdict } from "./circuit-model.ts";

type Step =
  | { readonly does: "acquire"; readonly times: number }
  | { readonly does: "report"; readonly which: number; readonly verdict: Verdict }
  | { readonly does: "wait"; readonly ms: number };

const verdict = fc.oneof(
  { weight: 12, arbitrary: fc.constant("failed" as const) },
  { weight: 1, arbitrary: fc.constant("succeeded" as const) },
  { weight: 2, arbitrary: fc.constant("abandoned" as const) },
);
const begins = fc.record({ does: fc.constant("acquire" as const), times: fc.integer({ min: 1, max: 6 }) });
const reports = fc.record({ does: fc.constant("report" as const), which: fc.nat(), verdict });
/** Most waits end at, or 1 ms before, a time at which the state changes. */
const waits = fc.record({
  does: fc.constant("wait" as const),
  ms: fc.oneof(fc.nat(35_000), fc.constantFrom(1, 999, 1000, 2000, 4000, 8000, 16_000, 29_999, 30_000)),
});
const history = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: begins },
    { weight: 6, arbitrary: reports },
    { weight: 3, arbitrary: waits },
  ),
  { maxLength: 150, size: "max" },
);

test("after any history, a circuit gives the same permits and reports the same changes as the model", () => {
  const seen = { opened: 0, closed: 0, probes: 0, withheld: 0 };
  fc.assert(
    fc.property(history, (steps) => play(steps, seen)),
    { numRuns: 1000 },
  );
  // Histories without events would prove nothing.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100);
});

function play(steps: readonly Step[], seen: Record<"opened" | "closed" | "probes" | "withheld", number>) {
  const clock = createManualClock();
  const model = createModel();
  const changes: boolean[] = [];
  const circuit = createCircuit({
    failuresMax: 5,
    clock: clock.now,
    onChange: (isOpen) => changes.push(isOpen),
  });
  const running: { permit: Permit; id: number }[] = [];

  for (const step of steps) {
    const wasOpen = model.isOpen();
    changes.length = 0;
    if (step.does === "wait") clock.step(step.ms);
    if (step.does === "acquire") {
      for (let left = step.times; left > 0; left--) {
        const permit = circuit.acquire();
        const id = model.acquire(clock.now());
        expect(permit !== undefined).toBe(id !== undefined);
        if (permit && id !== undefined) running.push({ permit, id });
        if (wasOpen) seen[permit ? "probes" : "withheld"] += 1;
      }
    }
    if (step.does === "report" && running.length > 0) {
      const [entry] = running.splice(step.which % running.length, 1);
      entry?.permit[step.verdict]();
      if (entry) model.report(entry.id, step.verdict, clock.now());
    }
    const isOpen = model.isOpen();
    expect(changes).toEqual(isOpen === wasOpen ? [] : [isOpen]);
    if (isOpen !== wasOpen) seen[isOpen ? "opened" : "closed"] += 1;
    expect(model.runningProbes(clock.now())).toBeLessThanOrEqual(1);
  }
}
