import { type Circuit, type CircuitOptions, createCircuit } from "./circuit.ts";

/** An upstream may ask for no longer rest than this: a lie then only reorders routes for a while. */
const REST_MAX_MS = 300_000;

/** Rests that are remembered of one upstream; the one told of longest ago goes first, and only reorders too. */
const RESTS_MAX = 1000;

/** What attempts have shown of one upstream. One per upstream and process. */
export interface Health extends Circuit {
  /** Whether this model of the upstream has asked (retry-after) to be left alone for now. */
  isCoolingDown(upstreamModel: string): boolean;
  /** Milliseconds until this model may be asked in the ordinary way: neither resting, nor behind an open circuit. */
  askableInMs(upstreamModel: string): number;
  /** The upstream said when to come back: milliseconds, at most 300,000. Of two such times the later counts. */
  startCooldown(upstreamModel: string, ms: number): void;
}

export function createHealth(options: CircuitOptions): Health {
  const { clock } = options;
  const circuit = createCircuit(options);
  const restsUntilMs = new Map<string, number>();

  function restLeftMs(upstreamModel: string): number {
    const untilMs = restsUntilMs.get(upstreamModel);
    if (untilMs === undefined) return 0;
    const leftMs = untilMs - clock();
    if (leftMs > 0) return leftMs;
    restsUntilMs.delete(upstreamModel);
    return 0;
  }

  return {
    ...circuit,
    isCoolingDown: (upstreamModel) => restLeftMs(upstreamModel) > 0,
    askableInMs: (upstreamModel) => Math.max(circuit.waitMs(), restLeftMs(upstreamModel)),
    startCooldown(upstreamModel, ms) {
      // Written so that NaN is none.
      if (!(ms > 0)) return;
      const untilMs = clock() + Math.min(ms, REST_MAX_MS);
      const told = restsUntilMs.get(upstreamModel);
      restsUntilMs.delete(upstreamModel);
      restsUntilMs.set(upstreamModel, told === undefined ? untilMs : Math.max(told, untilMs));
      if (restsUntilMs.size > RESTS_MAX) forgetFirst(restsUntilMs);
    },
  };
}

function forgetFirst(rests: Map<string, number>): void {
  for (const upstreamModel of rests.keys()) {
    rests.delete(upstreamModel);
    return;
  }
}
