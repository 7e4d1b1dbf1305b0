import type { Limiter } from "../../../src/limiter/limiter.ts";

/** A limiter with its replicas, and control of its clock. The clock starts on a full second. */
export interface LimiterHarness {
  /** Limiters that share one state; a single one for a limiter in process. */
  readonly replicas: readonly Limiter[];
  /** Returns the limiter's time in milliseconds. */
  nowMs(): number;
  /** Lets time pass, including that of leases and their renewals. */
  advance(ms: number): Promise<void>;
  /** Sets the clock ahead, or back by a negative `ms`, while no time passes. */
  setClock(ms: number): Promise<void>;
  /** Stops the replica's renewals, as if its process was killed. */
  kill(replica: number): Promise<void>;
  /** Returns when the replica last renewed its leases; `undefined` before the first renewal. */
  renewedAtMs(replica: number): number | undefined;
  close(): Promise<void>;
}

export type OpenLimiter = () => Promise<LimiterHarness>;
