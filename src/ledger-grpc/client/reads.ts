import type { MethodDefinition, ServiceError } from "@grpc/grpc-js";
import { LedgerError, type LedgerReads, type LedgerRefusal } from "../../ledger/ledger.ts";
import { isStorable } from "../../ledger/queries/text.ts";
import { encodeId } from "../codec/fields.ts";
import { decodeTransfer } from "../codec/postings.ts";
import {
  decodeReceipt,
  decodeUsageRow,
  encodePage,
  encodeReceiptFilter,
  encodeUsageQuery,
} from "../codec/receipts.ts";
import { readCallRefusal } from "../codec/status.ts";
import { decodeBalances, decodeSpendLimitUsage, decodeWallet } from "../codec/wallets.ts";
import { ledgerService } from "../service.ts";
import { emptyReads } from "./check.ts";
import type { Connection } from "./connection.ts";
import { faultOf } from "./link.ts";
import { LedgerLinkError } from "./link-error.ts";

/** One call for questions about one or a few rows, one for those about many. */
export interface RemoteCalls {
  readonly briefly: Call;
  readonly atLength: Call;
}

/** Every question as a call of its own, if it is one that a ledger answers at all. */
export function createRemoteReads({
  briefly,
  atLength,
}: RemoteCalls): LedgerReads & { ping(): Promise<void> } {
  return {
    async balances(walletId) {
      return decodeBalances(
        (await briefly(ledgerService.GetWallet, { walletId: encodeId(walletId) })).balances,
      );
    },
    wallet: (walletId) =>
      unless("wallet_not_found", async () => {
        const { wallet } = await briefly(ledgerService.GetWallet, { walletId: encodeId(walletId) });
        return decodeWallet(wallet);
      }),
    async wallets(page) {
      await emptyReads.wallets(page);
      const { wallets, nextPageToken } = await atLength(ledgerService.ListWallets, encodePage(page));
      return { items: wallets.map(decodeWallet), nextToken: nextPageToken || undefined };
    },
    async spendLimits(walletId, keyId) {
      if (keyId !== undefined && !isStorable(keyId)) return [];
      const request = { walletId: encodeId(walletId), keyId: encodeId(keyId ?? "") };
      const limits = (await briefly(ledgerService.ListSpendLimits, request)).limits.map(
        decodeSpendLimitUsage,
      );
      // An empty key asks the service for every limit; here it is a key that only the wallet's own bind.
      return keyId === "" ? limits.filter((limit) => limit.keyId === undefined) : limits;
    },
    receipt: (walletId, holdId) =>
      unless("hold_not_found", async () => {
        const request = { walletId: encodeId(walletId), holdId: encodeId(holdId) };
        return decodeReceipt((await briefly(ledgerService.GetHold, request)).hold);
      }),
    async receipts(filter, page) {
      await emptyReads.receipts(filter, page);
      const request = { filter: encodeReceiptFilter(filter), ...encodePage(page) };
      const { holds, nextPageToken } = await atLength(ledgerService.ListHolds, request);
      return { items: holds.map(decodeReceipt), nextToken: nextPageToken || undefined };
    },
    async transfers(walletId, page) {
      await emptyReads.transfers(walletId, page);
      const request = { walletId: encodeId(walletId), ...encodePage(page) };
      const { transfers, nextPageToken } = await atLength(ledgerService.ListTransfers, request);
      return { items: transfers.map(decodeTransfer), nextToken: nextPageToken || undefined };
    },
    async usage(query) {
      await emptyReads.usage(query);
      return (await atLength(ledgerService.QueryUsage, encodeUsageQuery(query))).rows.map(decodeUsageRow);
    },
    async ping() {
      await briefly(ledgerService.Ping, {});
    },
  };
}

/** What is read, or `undefined` where the ledger itself has nothing to say, and its service a refusal. */
async function unless<Answer>(
  refusal: LedgerRefusal,
  read: () => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof LedgerError && error.refusal === refusal) return undefined;
    throw error;
  }
}

/** Asks the service something, which changes nothing. Rejects with LedgerError. */
export type Call = <Request, Answer>(
  method: MethodDefinition<Request, Answer>,
  request: Request,
) => Promise<Answer>;

export interface CallOptions {
  /** How long one try may take. */
  readonly maxMs: number;
  /** How long a call that lost its connection is made again. */
  readonly outageMaxMs: number;
}

const PAUSE_MS = 25;

/** Waits for a connection as mutations do, and asks again when it was lost underneath. */
export function createCall(
  connection: Pick<Connection, "whenUp">,
  { maxMs, outageMaxMs }: CallOptions,
): Call {
  const whenUp = () =>
    connection.whenUp().catch((error) => {
      throw new LedgerError("unavailable", error);
    });

  return async (method, request) => {
    const lostMaxMs = performance.now() + outageMaxMs;
    for (;;) {
      const link = await whenUp();
      try {
        return await link.call(method, request, maxMs);
      } catch (error) {
        const refusal = toLedgerError(error);
        if (!isLost(refusal) || performance.now() > lostMaxMs) throw refusal;
      }
      await Bun.sleep(PAUSE_MS);
    }
  };
}

function toLedgerError(error: unknown): LedgerError {
  // Safe because what a call rejects with is one, or has none of its fields.
  const { code, metadata } = error as Partial<ServiceError>;
  const refusal = readCallRefusal(metadata);
  // The time of a call is up at both ends at once; only a hold has a deadline of its own.
  if (refusal && refusal.refusal !== "deadline_exceeded") return refusal;
  const fault = code === undefined ? "lost" : faultOf(code);
  return new LedgerError("unavailable", new LedgerLinkError(fault, error));
}

function isLost({ cause }: LedgerError): boolean {
  return cause instanceof LedgerLinkError && cause.code === "lost";
}
