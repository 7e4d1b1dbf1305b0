import type { Limiter } from "../../../src/limiter/limiter.ts";

/** A limiter as its gateways have it, and what only a test may do to it. The clock starts on a full second. */
export interface LimiterHarness {
  /** Gateways that share one state; one when nothing can be shared. */
  readonly replicas: readonly Limiter[];
  /** Milliseconds; what the limiter goes by. */
  nowMs(): number;
  /** Lets time pass, for leases and their renewal too. */
  advance(ms: number): Promise<void>;
  /** Sets the clock ahead, or back by a negative `ms`, while no time passes. */
  setClock(ms: number): Promise<void>;
  /** From now on this replica renews nothing and nobody hears of it, like a process that was killed. */
  kill(replica: number): Promise<void>;
  /** When this replica last renewed its leases; `undefined` before the first time. */
  renewedAtMs(replica: number): number | undefined;
  close(): Promise<void>;
}

export type OpenLimiter = () => Promise<LimiterHarness>;
