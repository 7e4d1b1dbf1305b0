import type { ErrorRow } from "../../../src/errors.ts";
import type { Client } from "../cases/fuzz-case.ts";

/** The members of a request that its answer must match. */
export interface ExpectedAnswer {
  readonly client: Client;
  readonly model: string;
  readonly stream: boolean;
  readonly choices: number;
  readonly wantsUsage: boolean;
  /** Whether the upstream has the client's format, so that its answer is passed through. */
  readonly isPassthrough: boolean;
}

/** A correct answer. */
export type Reading = { readonly ended: "finished" } | { readonly ended: "failed"; readonly row: ErrorRow };

export const FINISHED: Reading = { ended: "finished" };

/** The candidates that a body in Gemini's form asks for. */
export function candidatesOf(body: string): number {
  const count = /"candidate_?count"\s*:\s*"?(\d{1,3})\b/i.exec(body)?.[1];
  return Number(count ?? 1) || 1;
}

/** Whether a value is a non-negative integer. */
export function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
