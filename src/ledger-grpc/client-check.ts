import type { Book } from "../ledger/core/book.ts";
import type { Command } from "../ledger/core/command.ts";
import { decide } from "../ledger/core/decide.ts";
import { LedgerError, type LedgerReads } from "../ledger/ledger.ts";
import { SQLITE } from "../ledger/queries/query.ts";
import { createLedgerReads } from "../ledger/queries/reads.ts";

const EMPTY_BOOK: Book = Object.freeze({
  wallet: undefined,
  holds: new Map(),
  limits: new Map(),
  counters: new Map(),
  postings: new Map(),
  dueHoldIds: [],
});

/**
 * Refuses a command that no ledger takes, by the rules themselves: what is invalid is so whatever is in the
 * books. So it is refused as it would be there, though it might not even travel as it is. Throws LedgerError.
 */
export function checkCommand(command: Command): void {
  const decision = decide(EMPTY_BOOK, command, Date.now());
  const refusal = "declined" in decision ? decision.declined : undefined;
  if (refusal?.startsWith("invalid_")) throw new LedgerError(refusal);
}

const nothing = async () => [];

/** The reads of a ledger that has nothing: they refuse the questions that every ledger refuses. */
export const emptyReads: LedgerReads = createLedgerReads(
  { dialect: SQLITE, runShort: nothing, runLong: nothing },
  Date.now,
);
