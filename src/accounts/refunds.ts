import { DAY_MS } from "../domain/id-time.ts";
import type { Nanos } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { type Ledger, LedgerError, type Posting } from "../ledger/ledger.ts";
import type { JournalLine, Receipt } from "../ledger/records.ts";

const PAGE_SIZE = 1_000;

export interface RefundIds {
  readonly walletId: string;
  /** The request id of the receipt. */
  readonly holdId: string;
  /** Booked once. */
  readonly refundId: string;
}

export interface Refunded extends Posting {
  readonly amount: Nanos;
}

/**
 * Refunds what is left of a charge. A repeated refund returns what its id booked before. Rejects with
 * `unknown_receipt`, with `conflict` when nothing is left, and with LedgerError.
 */
export async function refundRest(
  ledger: Pick<Ledger, "receipt" | "refund" | "transfers">,
  ids: RefundIds,
): Promise<Refunded> {
  const receipt = await ledger.receipt(ids.walletId, ids.holdId);
  if (!receipt) throw new GatewayError("unknown_receipt");
  const book = async (amount: Nanos) => ({ amount, ...(await ledger.refund({ ...ids, amount })) });
  const rest = receipt.captured - receipt.refunded;
  try {
    if (rest === 0n) {
      throw new GatewayError("conflict", { message: "Nothing is left of the charge to refund." });
    }
    return await book(rest);
  } catch (thrown) {
    if (thrown instanceof LedgerError && thrown.code !== "conflict") throw thrown;
    const booked = await findBooked(ledger, ids, receipt);
    if (!booked) throw thrown;
    return book(booked.amount);
  }
}

/** Finds the refund with this id. Searches to one day before the receipt, as clocks of processes differ. */
async function findBooked(
  ledger: Pick<Ledger, "transfers">,
  { walletId, refundId }: RefundIds,
  { createdAtMs }: Receipt,
): Promise<JournalLine | undefined> {
  let token: string | undefined;
  do {
    const { items, nextToken } = await ledger.transfers(walletId, { size: PAGE_SIZE, token });
    const booked = items.find(({ kind, transferId }) => kind === "refund" && transferId === refundId);
    if (booked || items.some((line) => line.createdAtMs < createdAtMs - DAY_MS)) return booked;
    token = nextToken;
  } while (token !== undefined);
  return undefined;
}
