import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Program } from "./program.ts";

/** A hold as the database has it, read without any of our own code. */
export interface StoredHold {
  readonly state: string;
  readonly captured: bigint;
}

/** One that can be killed. */
export interface Victim {
  readonly name: "gateway" | "ledger" | "postgres";
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** Everything of one deployment, with real processes and a real disk. */
export interface House {
  readonly name: string;
  /** Of the gateway. */
  readonly url: string;
  readonly secret: string;
  /** The ledger as another service calls it over gRPC; `undefined` where the gateway keeps it to itself. */
  readonly ledger: Ledger | undefined;
  readonly walletId: string;
  readonly victims: readonly Victim[];
  /** Those that must never end by themselves. */
  readonly programs: readonly Program[];
  /** The holds whose ids are of this Unix time or later, by id. */
  readHolds(sinceMs: number): Promise<ReadonlyMap<string, StoredHold>>;
  /** Open holds that are past their time by more than so many milliseconds. */
  countOverdue(graceMs: number): Promise<number>;
  countOpen(): Promise<number>;
  /** Settlements that are still in a journal. */
  countJournaled(): number;
  /** Throws when the books contradict themselves. */
  audit(): Promise<void>;
  close(): Promise<void>;
}

export const HOLD_TTL_S = 2;

/** The least UUIDv7 of a time. */
export function firstIdOf(ms: number): string {
  const time = ms.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
