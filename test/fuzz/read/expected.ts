import type { ErrorRow } from "../../../src/errors.ts";
import type { Client } from "../cases/fuzz-case.ts";

/** What of its own request a client goes by when it reads the answer. */
export interface ExpectedAnswer {
  readonly client: Client;
  readonly model: string;
  readonly stream: boolean;
  readonly choices: number;
  readonly wantsUsage: boolean;
  /** Whether the upstream speaks the client's format, so that what it says passes as it is. */
  readonly isVerbatim: boolean;
}

/** How an answer reads; everything else is thrown. */
export type Reading = { readonly ended: "finished" } | { readonly ended: "failed"; readonly row: ErrorRow };

export const FINISHED: Reading = { ended: "finished" };

/** A whole number from 0. */
export function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
