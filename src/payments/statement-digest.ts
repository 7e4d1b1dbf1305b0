// A digest of a month's transfers, by which a statement on paper, its file and the ledger can be compared.
import type { Database } from "../db/database.ts";
import { printUsd } from "../domain/money.ts";
import type { Month } from "../domain/month.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { openStatement, printStatement } from "./statement.ts";
import { createNoteReader } from "./transfer-notes.ts";

interface Parts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "transfers" | "credits">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** The file of a month's transfers, a piece per line. */
export async function statementLines(
  parts: Parts,
  accountId: string,
  month: Month,
): Promise<AsyncGenerator<string>> {
  const statement = await openStatement(parts.ledger, accountId, month);
  return printStatement(month, statement, { nowMs: parts.now(), noteOf: createNoteReader(parts, accountId) });
}

/** What the file of a past month comes to; a running month has no digest, because its file grows. */
export interface StatementDigest {
  /** SHA-256 of the file in hex. */
  readonly sha256: string;
  readonly transfers: number;
  /** The opening balance and every line of the file. */
  readonly closing_usd: string;
}

/** Reads every transfer of a past month, a page at a time; `undefined` for a running month. */
export async function readStatementDigest(
  parts: Parts,
  accountId: string,
  month: Month,
): Promise<StatementDigest | undefined> {
  if (parts.now() < month.toMs) return undefined;
  const { opening, lines } = await openStatement(parts.ledger, accountId, month);
  let closing = opening;
  let transfers = 0;
  async function* counted() {
    for await (const each of lines()) {
      closing = each.balance;
      transfers += 1;
      yield each;
    }
  }
  const noteOf = createNoteReader(parts, accountId);
  const hash = new Bun.CryptoHasher("sha256");
  const file = printStatement(month, { opening, lines: counted }, { nowMs: parts.now(), noteOf });
  for await (const piece of file) hash.update(piece);
  return { sha256: hash.digest("hex"), transfers, closing_usd: printUsd(closing) };
}
