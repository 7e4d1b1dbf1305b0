import { connect, openDatabase } from "../../../src/db/sqlite/database.ts";
import {
  FILLED_RECEIPTS,
  type Fill,
  receiptStatement,
  SQLITE_FILL,
  settlementStatements,
  walletStatements,
} from "./fill-usage.ts";

const CACHE_KB = 1_000_000;

/** Makes a SQLite file with receipts and their transfers. Ten million take about five minutes and 4.2 GB. */
export function fillSqliteFile(path: string, fill: Fill): void {
  openDatabase(path).close();
  const client = connect(path, 10_000);
  client.run("PRAGMA synchronous = OFF");
  client.run(`PRAGMA cache_size = -${CACHE_KB}`);
  for (const statement of walletStatements(fill)) client.run(statement);
  for (let from = 0; from < fill.count; from += FILLED_RECEIPTS) {
    const to = Math.min(fill.count, from + FILLED_RECEIPTS);
    client.run(receiptStatement(SQLITE_FILL, fill, from, to));
  }
  for (const statement of settlementStatements()) client.run(statement);
  client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  client.close();
}
