import { expect, test } from "bun:test";
import fc from "fast-check";
import { createCircuit, type Permit } from "../../src/upstream/circuit.ts";
import { createManualClock } from "../limiter/manual-clock.ts";
import { createModel, type Verdict } from "./circuit-model.ts";

type Step =
  | { readonly does: "acquire"; readonly times: number }
  | { readonly does: "tell"; readonly which: number; readonly verdict: Verdict }
  | { readonly does: "wait"; readonly ms: number };

const verdict = fc.oneof(
  { weight: 12, arbitrary: fc.constant("failed" as const) },
  { weight: 1, arbitrary: fc.constant("succeeded" as const) },
  { weight: 2, arbitrary: fc.constant("abandoned" as const) },
);
const begins = fc.record({ does: fc.constant("acquire" as const), times: fc.integer({ min: 1, max: 6 }) });
const tells = fc.record({ does: fc.constant("tell" as const), which: fc.nat(), verdict });
/** Most waits end at, or one short of, a moment at which something changes. */
const waits = fc.record({
  does: fc.constant("wait" as const),
  ms: fc.oneof(fc.nat(35_000), fc.constantFrom(1, 999, 1000, 2000, 4000, 8000, 16_000, 29_999, 30_000)),
});
const life = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: begins },
    { weight: 6, arbitrary: tells },
    { weight: 3, arbitrary: waits },
  ),
  { maxLength: 150, size: "max" },
);

test("whatever happens to a circuit, it lets through whom the model does and tells when it changes", () => {
  const seen = { opened: 0, closed: 0, probes: 0, refused: 0 };
  fc.assert(
    fc.property(life, (steps) => play(steps, seen)),
    { numRuns: 1000 },
  );
  // Lives in which nothing happens prove nothing.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(100);
});

function play(steps: readonly Step[], seen: Record<"opened" | "closed" | "probes" | "refused", number>) {
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
        if (wasOpen) seen[permit ? "probes" : "refused"] += 1;
      }
    }
    if (step.does === "tell" && running.length > 0) {
      const [told] = running.splice(step.which % running.length, 1);
      told?.permit[step.verdict]();
      if (told) model.tell(told.id, step.verdict, clock.now());
    }
    const isOpen = model.isOpen();
    expect(changes).toEqual(isOpen === wasOpen ? [] : [isOpen]);
    if (isOpen !== wasOpen) seen[isOpen ? "opened" : "closed"] += 1;
    expect(model.probesUnderWay(clock.now())).toBeLessThanOrEqual(1);
  }
}
