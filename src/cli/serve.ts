import { dirname } from "node:path";
import { catchHangups } from "../app/signals.ts";
import { relaunchForUpstreamCalls } from "../config/relaunch.ts";
import type { DatabaseLocation } from "../db/location.ts";
import { CommandError } from "./command.ts";

/** Runs the gateway. Handles SIGHUP before it loads the rest, so that a SIGHUP does not end a start. */
export async function runServe(): Promise<void> {
  const hangups = catchHangups();
  relaunchForUpstreamCalls();
  const [{ loadWithSource }, { runGatewayProcess }] = await Promise.all([
    import("../config/config.ts"),
    import("../app/gateway-process.ts"),
  ]);
  const loaded = loadWithSource();
  const { database, dataFolder } = loaded.config;
  const folders = [...foldersOf(database), dataFolder];
  await runGatewayProcess(loaded, hangups).catch((fault) => rethrow(fault, folders));
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
  const folders = foldersOf(loaded.config.database);
  await runLedgerProcess(loaded, hangups).catch((fault) => rethrow(fault, folders));
}

function foldersOf(database: DatabaseLocation): readonly string[] {
  return database.dialect === "sqlite" ? [dirname(database.path)] : [];
}

/** Rejects with the fault of a start, which names a full disk. */
async function rethrow(fault: unknown, folders: readonly string[]): Promise<never> {
  const { nameFullDisk } = await import("../db/full-disk.ts");
  throw nameFullDisk(fault, folders);
}
