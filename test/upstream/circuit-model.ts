import type { Permit } from "../../src/upstream/circuit.ts";

export type Verdict = Exclude<keyof Permit, "began">;

/** A circuit as the rules tell it: it keeps all that happened and looks there for every answer. */
export interface CircuitModel {
  /** The permit's number; `undefined` when it is not let through. */
  acquire(nowMs: number): number | undefined;
  tell(id: number, verdict: Verdict, nowMs: number): void;
  isOpen(): boolean;
  /** Probes of this opening that are not ended and have not been silent for half a minute. */
  probesUnderWay(nowMs: number): number;
}

interface Event {
  readonly id: number;
  readonly what: "begun" | Verdict;
  readonly atMs: number;
}

/** Opens on five failures in a row. */
export function createModel(): CircuitModel {
  let isOpen = false;
  let changedMs = 0;
  let permits = 0;
  /** What happened, since the circuit opened or closed last, to permits that have begun since. */
  let since: Event[] = [];

  function happen(event: Event): void {
    const isOfNow = event.what === "begun" || since.some(({ id }) => id === event.id);
    const isSuccess = event.what === "succeeded";
    if (isOfNow || isSuccess) since.push(event);
    if (isOpen ? !isSuccess : failuresInARow().length < 5) return;
    change(event.atMs);
  }

  function change(atMs: number): void {
    isOpen = !isOpen;
    changedMs = atMs;
    since = [];
  }

  function failuresInARow(): Event[] {
    const lastSuccess = since.findLastIndex(({ what }) => what === "succeeded");
    return since.slice(lastSuccess + 1).filter(({ what }) => what === "failed");
  }

  function mayProbe(nowMs: number): boolean {
    const last = since.findLast(({ what }) => what === "begun");
    if (!last) return nowMs >= changedMs + 1000;
    const end = endOf(last.id);
    if (!end) return nowMs >= last.atMs + 30_000;
    if (end.what === "abandoned") return true;
    return nowMs >= end.atMs + Math.min(1000 * 2 ** probesFailed().length, 30_000);
  }

  function endOf(probe: number): Event | undefined {
    return since.find(({ id, what }) => id === probe && what !== "begun");
  }

  /** Those that failed before another had begun. */
  function probesFailed(): Event[] {
    const lastBefore = (index: number) => since.slice(0, index).findLast(({ what }) => what === "begun")?.id;
    return since.filter(({ id, what }, index) => what === "failed" && lastBefore(index) === id);
  }

  return {
    acquire(nowMs) {
      if (isOpen && !mayProbe(nowMs)) return undefined;
      permits += 1;
      happen({ id: permits, what: "begun", atMs: nowMs });
      return permits;
    },
    tell: (id, what, atMs) => happen({ id, what, atMs }),
    isOpen: () => isOpen,
    probesUnderWay(nowMs) {
      const probes = isOpen ? since.filter(({ what }) => what === "begun") : [];
      return probes.filter(({ id, atMs }) => !endOf(id) && nowMs < atMs + 30_000).length;
    },
  };
}
