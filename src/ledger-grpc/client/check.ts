import type { Book } from "../../ledger/core/book.ts";
import type { Command } from "../../ledger/core/command.ts";
import { decide } from "../../ledger/core/decide.ts";
import { LedgerError, type LedgerReads } from "../../ledger/ledger.ts";
import { createLedgerReads } from "../../ledger/queries/reads.ts";
import { SQLITE } from "../../ledger/sqlite/dialect.ts";

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
  const outcome = decide(EMPTY_BOOK, command, Date.now());
  const refusal = "refusal" in outcome ? outcome.refusal : undefined;
  if (refusal?.startsWith("invalid_")) throw new LedgerError(refusal);
}

const nothing = async () => [];

/** The reads of a ledger that has nothing: they refuse the questions that every ledger refuses. */
export const emptyReads: LedgerReads = createLedgerReads(
  { dialect: SQLITE, askBriefly: nothing, askAtLength: nothing },
  Date.now,
);
