// A process whose ledger is away: it journals settlements and says on stdout which are on disk, until it is killed.
import { writeSync } from "node:fs";
import { type Ledger, LedgerError } from "../../src/ledger/ledger.ts";
import { openJournal } from "../../src/settlement-outbox/outbox.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { settlementOf } from "./journal-books.ts";

const [folder = "", prefix = "", count = "0"] = process.argv.slice(2);
const refuse = () => Promise.reject(new LedgerError("unavailable"));
// Safe because a journal asks a ledger for nothing else.
const ledger = { settle: refuse, release: refuse } as unknown as Ledger;
const journal = openJournal({ folder, ledger, log: createCapturedLog(), everyMs: 50 });

for (let index = 0; index < Number(count); index++) {
  const name = `${prefix}-${index}`;
  const said = await journal.append(settlementOf(name, 10n)).then(
    () => "taken",
    (error: Error) => `refused: ${error.name}`,
  );
  writeSync(1, `${name} ${said}\n`);
}
writeSync(1, "all\n");
