import type { RestoreReport } from "../backup/report.ts";
import { type Restored, restoreBackup, restoreInPlace } from "../backup/restore.ts";
import { writeBackup } from "../backup/write-backup.ts";
import { loadStorageConfig } from "../config/config.ts";
import { describeLocation } from "../db/location.ts";
import { printTime } from "../domain/id-time.ts";
import { printUsd } from "../domain/money.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { runLongWork } from "./progress.ts";
import { requireStorage } from "./storage.ts";

/** Writes a backup of the SQLite database and the data folder. Opens both for reading only. */
export async function runBackup(to: string, options: { readonly json?: boolean }): Promise<CommandResult> {
  const { database, dataFolder } = loadStorageConfig();
  if (database.dialect !== "sqlite") {
    throw new CommandError("PostgreSQL is backed up with its own tools: see docs/backup.md.");
  }
  await requireStorage(database);
  const source = { database: database.path, dataFolder };
  const manifest = await runLongWork(options, (work) => writeBackup(source, to, work));
  const { counts, files, made_at } = manifest;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return {
    json: { folder: to, bytes, ...manifest },
    text: [
      `Backed up ${counts.accounts} accounts, ${counts.holds} receipts and ${counts.transfers} transfers of ${made_at}.`,
      `It has ${counts.open_holds} open holds and ${counts.outbox_entries} settlements in the outbox.`,
      `${to} (${(bytes / 1_000_000).toFixed(1)} MB) holds e-mail addresses and signing secrets: keep it private.`,
    ].join("\n"),
  };
}

export interface RestoreCommandOptions {
  readonly inPlace?: boolean;
  readonly originalIsStopped?: boolean;
}

/** Restores a backup to `DATABASE_URL` and `TOLLGATE_DATA`, or finishes a restore that other tools made there. */
export async function runRestore(
  from: string | undefined,
  options: RestoreCommandOptions & { readonly json?: boolean },
): Promise<CommandResult> {
  const { database, dataFolder } = loadStorageConfig();
  const isOriginalStopped = options.originalIsStopped === true;
  if ((from === undefined) !== (options.inPlace === true)) {
    throw new CommandError("Name the folder of a backup, or give --in-place: one of the two.", 2);
  }
  if (from === undefined) {
    const parts = { database, dataFolder, isOriginalStopped, nowMs: Date.now() };
    return formatRestore(await restoreInPlace(parts), describeLocation(database));
  }
  if (database.dialect !== "sqlite") {
    throw new CommandError(
      "DATABASE_URL names PostgreSQL: restore it with its own tools, see docs/backup.md.",
    );
  }
  const target = { database: database.path, dataFolder };
  const restored = await runLongWork(options, (work) =>
    restoreBackup({ from, target, isOriginalStopped }, work),
  );
  return formatRestore(restored, describeLocation(database));
}

function formatRestore(
  { instance, report, manifest }: Omit<Restored, "manifest"> & Partial<Pick<Restored, "manifest">>,
  database: string,
): CommandResult {
  const { openHolds, outbox, codes, openCheckouts, valid, waiting } = report;
  const lastTransferAt = printTime(report.lastTransferAtMs);
  const json = {
    database,
    instance_id: instance.id,
    epoch: instance.epoch,
    restored_from: instance.restoredFrom ?? null,
    backup_made_at: manifest?.made_at ?? null,
    last_transfer_at: lastTransferAt,
    open_holds: {
      count: openHolds.count,
      granted_usd: printUsd(openHolds.granted),
      request_ids: openHolds.requestIds,
    },
    outbox: {
      entries: outbox.entries,
      unknown: outbox.unknown,
      unknown_request_ids: outbox.unknownRequestIds,
    },
    redeemable_codes: { count: codes.count, amount_usd: printUsd(codes.amount) },
    open_checkouts: openCheckouts,
    valid: {
      keys: valid.keys,
      management_keys: valid.managementKeys,
      shared_links: valid.sharedLinks,
      invitations: valid.invitations,
    },
    waiting,
  };
  const text = [
    `Restored ${database} as epoch ${instance.epoch}.`,
    `${manifest ? `The backup is of ${manifest.made_at}; its` : "Its"} last transfer is of ${lastTransferAt ?? "no time: it has none"}.`,
    "",
    "What happened after the copy was made is not in it:",
    ...listLosses(report).map((line) => `- ${line}`),
    "",
    "Next: bun tollgate audit, then start the gateways. See docs/backup.md.",
  ];
  return { json, text: text.join("\n") };
}

/** The most request ids that are printed as text; `--json` lists up to 1,000. */
const IDS_SHOWN = 20;

/** One line per fact; facts that do not apply are left out. */
function listLosses(report: RestoreReport): readonly string[] {
  const { openHolds, outbox, codes, hasCheckouts, openCheckouts, valid, waiting } = report;
  const lines: readonly (string | false)[] = [
    "Requests that ended since are not charged, and their receipts are missing.",
    "Top-ups, refunds and charges made since are missing: they can be booked again under their ids.",
    openHolds.count > 0 &&
      `${openHolds.count} requests were running, with ${printUsd(openHolds.granted)} USD on hold. They are charged what they had used, a minute after the start${listIds(openHolds.requestIds)}.`,
    outbox.entries > 0 &&
      `${outbox.entries} settlements in the outbox are booked at the start. ${outbox.unknown} of them belong to later requests: those of the last day are charged, the others are declined and stay in the outbox${listIds(outbox.unknownRequestIds)}.`,
    codes.count > 0 &&
      `${codes.count} codes over ${printUsd(codes.amount)} USD can be redeemed, also those redeemed since.`,
    hasCheckouts &&
      `Payments at Stripe made since are not credited: send their events again from Stripe's dashboard. ${openCheckouts.length} were open${listIds(openCheckouts)}.`,
    `DANGER: ${valid.keys} keys, ${valid.managementKeys} management keys, ${valid.sharedLinks} shared links and ${valid.invitations} invitations are valid, also those revoked since: revoke them again. Passwords are those of that time.`,
    waiting.mails + waiting.webhooks > 0 &&
      `${waiting.mails} mails and ${waiting.webhooks} webhook calls are sent, also those sent since.`,
    "Everybody is signed out of the console.",
  ];
  return lines.filter((line) => line !== false);
}

function listIds(ids: readonly string[]): string {
  if (ids.length === 0) return "";
  const more = ids.length > IDS_SHOWN ? ", …" : "";
  return `: ${ids.slice(0, IDS_SHOWN).join(", ")}${more}`;
}
