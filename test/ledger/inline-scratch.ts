import { connect } from "../../src/db/sqlite/database.ts";
import { createInlineReader, type WorkerReader } from "../../src/ledger/sqlite/reads.ts";

/** Runs queries with temporary tables on the event loop, over a connection of its own. */
export function openInlineScratch(path: string): WorkerReader {
  const client = connect(path, 0);
  return { run: createInlineReader(client), close: () => client.close() };
}
