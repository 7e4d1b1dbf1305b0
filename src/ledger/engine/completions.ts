import type { Answer } from "../core/command.ts";
import type { Outcome } from "../core/outcome.ts";
import { LedgerError } from "../ledger.ts";
import type { Entry } from "./batch.ts";

/** Answers commands once what they did is durable. */
export interface Answers {
  give(entries: readonly Entry[], outcomes: readonly Outcome<Answer>[]): void;
  /** Resolves when every answer is given. */
  allGiven(): Promise<void>;
}

/**
 * Does not hold up the next turn while the disk works: what that commits comes behind in the same log.
 * A log that cannot be synced refuses as `unavailable`; repeating the command finds out what became of it.
 */
export function createAnswers(sync: (() => Promise<void>) | undefined): Answers {
  let last = Promise.resolve();

  async function give(entries: readonly Entry[], outcomes: readonly Outcome<Answer>[]): Promise<void> {
    try {
      await sync?.();
      answer(entries, outcomes);
    } catch (error) {
      refuse(entries, error);
    }
  }

  return {
    give(entries, outcomes) {
      last = give(entries, outcomes);
    },
    allGiven: () => last,
  };
}

/** Refuses commands that were not applied, or of which that is not known. */
export function refuse(entries: readonly Entry[], reason: unknown): void {
  for (const { reject } of entries) reject(new LedgerError("unavailable", reason));
}

function answer(entries: readonly Entry[], outcomes: readonly Outcome<Answer>[]): void {
  for (const [index, { resolve, reject }] of entries.entries()) {
    const outcome = outcomes[index];
    if (outcome && "answer" in outcome) resolve(outcome.answer);
    else reject(new LedgerError(outcome?.refusal ?? "unavailable", undefined, outcome?.shortfall));
  }
}
