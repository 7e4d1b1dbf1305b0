import { printTime } from "../domain/id-time.ts";
import { printUsd } from "../domain/money.ts";
import type { ExportEntry } from "../ledger/exports/page.ts";
import { printOperatorReceipt } from "../ledger/print-receipt.ts";
import type { JournalLine } from "../ledger/records.ts";

/** The version of the members of a line. Later programs may add members to it, and change none. */
const SCHEMA_VERSION = 1;

/** What a line reports: a receipt that ended or was charged late, a refund of one, or money that came in, was taken off or expired. */
type LineType = "receipt" | (typeof OWN_TYPES)[number];
/** The kinds of transfers that are types of their own. */
const OWN_TYPES = ["refund", "top_up", "correction", "credit_expiry"] as const;

/** One line of an export. */
export interface Line {
  /** Equal in every repetition of the line, and in no other line. */
  readonly id: string;
  readonly type: LineType;
  /** Unix milliseconds of the transfer, or of the end of a receipt without one. */
  readonly atMs: number;
  /** A JSON object, without a line break. */
  readonly text: string;
  readonly entry: ExportEntry;
}

/** Converts an entry to its line. Amounts are decimal texts of USD, times ISO 8601 in UTC. */
export function printLine(entry: ExportEntry): Line {
  const { walletId, accountName, keyName, transfer, receipt } = entry;
  const type = typeOf(transfer);
  const id = `${walletId}/${type}/${nameOf(type, entry)}`;
  const atMs = transfer?.createdAtMs ?? receipt?.resolvedAtMs ?? receipt?.createdAtMs ?? 0;
  const text = JSON.stringify({
    schema_version: SCHEMA_VERSION,
    id,
    type,
    recorded_at: printTime(atMs),
    account_id: walletId,
    account_name: accountName ?? null,
    key_name: keyName ?? null,
    transfer: transfer ? printTransfer(transfer) : null,
    receipt: receipt ? printOperatorReceipt(receipt) : null,
  });
  return { id, type, atMs, text, entry };
}

function typeOf(transfer: JournalLine | undefined): LineType {
  return OWN_TYPES.find((type) => type === transfer?.kind) ?? "receipt";
}

/** Unique among the lines of a type and an account: a receipt that expired may have a second line, settled late. */
function nameOf(type: LineType, { transfer, receipt }: ExportEntry): string {
  if (type !== "receipt") return transfer?.transferId ?? "";
  if (transfer) return `${transfer.holdId}${transfer.kind === "late_settlement" ? "/late" : ""}`;
  return `${receipt?.holdId}/uncharged${receipt?.late ? "/late" : ""}`;
}

function printTransfer({ seq, transferId, kind, amount, postedAfter, createdAtMs }: JournalLine): object {
  return {
    seq,
    id: transferId,
    kind,
    amount_usd: printUsd(amount),
    balance_after_usd: printUsd(postedAfter),
    created_at: printTime(createdAtMs),
  };
}

/** Lines that a sink takes as a whole, or not at all. */
export interface Batch {
  /** Equal in every try of the batch. */
  readonly id: string;
  readonly lines: readonly Line[];
}

/** Where an export sends its lines. */
export interface Sink {
  /**
   * Resolves when the batch is stored for good, with the number of lines that the receiver rejected and must not
   * get again. Rejects with {@link SinkError}: the batch is tried again.
   */
  deliver(batch: Batch, signal: AbortSignal): Promise<number>;
  close(): void;
}

/** A sink has not taken a batch. The message is fit for logs: it holds no text of a receiver. */
export class SinkError extends Error {
  override readonly name = "SinkError";
  /** How long the receiver asks to wait. */
  readonly waitMs: number | undefined;
  /** Whether a smaller batch may be taken. */
  readonly isTooLarge: boolean;

  constructor(
    message: string,
    { waitMs, isTooLarge = false, cause }: { waitMs?: number; isTooLarge?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.waitMs = waitMs;
    this.isTooLarge = isTooLarge;
  }
}

/** The lines of a batch as a text with one JSON object per line. */
export function printLines(lines: readonly Line[]): string {
  return lines.map(({ text }) => `${text}\n`).join("");
}
