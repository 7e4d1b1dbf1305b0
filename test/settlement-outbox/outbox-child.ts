// A process whose ledger is unavailable: appends settlements to its outbox and prints each result, until it
// is killed.
import { writeSync } from "node:fs";
import { type Ledger, LedgerError } from "../../src/ledger/ledger.ts";
import { openSettlementOutbox } from "../../src/settlement-outbox/outbox.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { settlementOf } from "./fixture.ts";

const [folder = "", prefix = "", count = "0"] = process.argv.slice(2);
const decline = () => Promise.reject(new LedgerError("unavailable"));
// Safe because an outbox calls no other method of a ledger.
const ledger = { settle: decline, release: decline } as unknown as Ledger;
const outbox = openSettlementOutbox({ folder, ledger, log: createCapturedLog(), everyMs: 50 });

for (let index = 0; index < Number(count); index++) {
  const name = `${prefix}-${index}`;
  const result = await outbox.append(settlementOf(name, 10n)).then(
    () => "appended",
    (error: Error) => `rejected: ${error.name}`,
  );
  writeSync(1, `${name} ${result}\n`);
}
writeSync(1, "done\n");
