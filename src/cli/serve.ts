import { catchHangups } from "../app/signals.ts";
import { relaunchForUpstreamCalls } from "../config/relaunch.ts";
import { CommandError } from "./command.ts";

/** Runs the gateway. Handles SIGHUP before it loads the rest, so that a SIGHUP does not end a start. */
export async function runServe(): Promise<void> {
  const hangups = catchHangups();
  relaunchForUpstreamCalls();
  const [{ loadWithSource }, { runGatewayProcess }] = await Promise.all([
    import("../config/config.ts"),
    import("../app/gateway-process.ts"),
  ]);
  await runGatewayProcess(loadWithSource(), hangups);
}

/** Runs the ledger's gRPC service alone. */
export async function runLedger(): Promise<void> {
  const hangups = catchHangups();
  const [{ loadLedgerConfig }, { runLedgerProcess }] = await Promise.all([
    import("../config/config.ts"),
    import("../app/ledger-process.ts"),
  ]);
  const loaded = loadLedgerConfig();
  const { listen, remote } = loaded.config.ledger;
  if (remote)
    throw new CommandError("LEDGER_URL names another ledger: unset it where the ledger itself runs.");
  if (!listen) throw new CommandError("LEDGER_LISTEN is off: set the address where the ledger listens.");
  await runLedgerProcess(loaded, hangups);
}
