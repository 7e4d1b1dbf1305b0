import type { Permit } from "../../src/upstream/circuit-phases.ts";

export type Verdict = Exclude<keyof Permit, "began">;

/** Reference model of a circuit: it keeps every event and derives each answer from them. */
export interface CircuitModel {
  /** Returns the number of a permit; `undefined` when none is given. */
  acquire(nowMs: number): number | undefined;
  report(id: number, verdict: Verdict, nowMs: number): void;
  isOpen(): boolean;
  /** Returns the running probes of this phase that began less than 30 seconds ago. */
  runningProbes(nowMs: number): number;
}

interface Event {
  readonly id: number;
  readonly what: "begun" | Verdict;
  readonly atMs: number;
}

/** Opens on five consecutive failures. */
export function createModel(): CircuitModel {
  let isOpen = false;
  let changedMs = 0;
  let permits = 0;
  /** Events of permits that began in the current phase. */
  let since: Event[] = [];

  function record(event: Event): void {
    const isOfThisPhase = event.what === "begun" || since.some(({ id }) => id === event.id);
    const isSuccess = event.what === "succeeded";
    if (isOfThisPhase || isSuccess) since.push(event);
    if (isOpen ? !isSuccess : consecutiveFailures().length < 5) return;
    change(event.atMs);
  }

  function change(atMs: number): void {
    isOpen = !isOpen;
    changedMs = atMs;
    since = [];
  }

  function consecutiveFailures(): Event[] {
    const lastSuccess = since.findLastIndex(({ what }) => what === "succeeded");
    return since.slice(lastSuccess + 1).filter(({ what }) => what === "failed");
  }

  function mayProbe(nowMs: number): boolean {
    const last = since.findLast(({ what }) => what === "begun");
    if (!last) return nowMs >= changedMs + 1000;
    const end = endOf(last.id);
    if (!end) return nowMs >= last.atMs + 30_000;
    if (end.what === "abandoned") return true;
    return nowMs >= end.atMs + Math.min(1000 * 2 ** failedProbes().length, 30_000);
  }

  function endOf(probe: number): Event | undefined {
    return since.find(({ id, what }) => id === probe && what !== "begun");
  }

  /** Returns the failures of probes before the next probe began. */
  function failedProbes(): Event[] {
    const lastBefore = (index: number) => since.slice(0, index).findLast(({ what }) => what === "begun")?.id;
    return since.filter(({ id, what }, index) => what === "failed" && lastBefore(index) === id);
  }

  return {
    acquire(nowMs) {
      if (isOpen && !mayProbe(nowMs)) return undefined;
      permits += 1;
      record({ id: permits, what: "begun", atMs: nowMs });
      return permits;
    },
    report: (id, what, atMs) => record({ id, what, atMs }),
    isOpen: () => isOpen,
    runningProbes(nowMs) {
      const probes = isOpen ? since.filter(({ what }) => what === "begun") : [];
      return probes.filter(({ id, atMs }) => !endOf(id) && nowMs < atMs + 30_000).length;
    },
  };
}
