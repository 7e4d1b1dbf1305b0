import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Program } from "./program.ts";

/** A row of `holds`, read without the code under test. */
export interface StoredHold {
  readonly state: string;
  readonly captured: bigint;
}

/** A process of the cluster that can be killed. */
export interface KillTarget {
  readonly name: "gateway" | "ledger" | "postgres";
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** One deployment of real processes on a real disk. */
export interface Cluster {
  readonly name: string;
  /** The URL of the gateway. */
  readonly url: string;
  readonly secret: string;
  /** The ledger over gRPC; `undefined` when the gateway does not serve it. */
  readonly ledger: Ledger | undefined;
  readonly walletId: string;
  readonly killTargets: readonly KillTarget[];
  /** The programs that must never exit by themselves. */
  readonly programs: readonly Program[];
  /** Returns the holds whose ids are of this Unix time or later, by id. */
  readHolds(sinceMs: number): Promise<ReadonlyMap<string, StoredHold>>;
  /** Counts the open holds that expired more than `graceMs` ago. */
  countOverdue(graceMs: number): Promise<number>;
  countOpen(): Promise<number>;
  /** Counts the settlements that are still in an outbox. */
  countQueued(): number;
  /** Runs `tollgate audit`. Throws when it has findings. */
  audit(): Promise<void>;
  close(): Promise<void>;
}

export const HOLD_TTL_S = 2;

/** Returns the least UUIDv7 of a time. */
export function firstIdOf(ms: number): string {
  const time = ms.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
