import { catchHangups } from "../app/signals.ts";
import { CommandError } from "./command-error.ts";

export async function runLedger(): Promise<void> {
  const hangups = catchHangups();
  const [{ loadLedgerConfig }, { serveLedgerAlone }] = await Promise.all([
    import("../config/config.ts"),
    import("../app/ledger-process.ts"),
  ]);
  const config = loadLedgerConfig();
  const { listen, remote } = config.ledger;
  if (remote)
    throw new CommandError("LEDGER_URL names another ledger: unset it where the ledger itself runs.");
  if (!listen) throw new CommandError("LEDGER_LISTEN is off: say where the ledger listens.");
  await serveLedgerAlone(config, hangups);
}
