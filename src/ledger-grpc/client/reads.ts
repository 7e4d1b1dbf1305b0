import type { MethodDefinition, ServiceError } from "@grpc/grpc-js";
import { LedgerError, type LedgerErrorCode } from "../../ledger/ledger.ts";
import type { LedgerReads, SpendLimit } from "../../ledger/records.ts";
import { platform } from "../../platform.ts";
import { decodeCreditTotal, encodeCreditTotalsQuery } from "../codec/credit-totals.ts";
import { decodeCredit } from "../codec/credits.ts";
import { encodeId, encodeText } from "../codec/fields.ts";
import { decodeFullLimits, decodeSpendLimitUsage, encodeFullLimitsQuery } from "../codec/limits.ts";
import {
  decodeReceipt,
  decodeReceiptPage,
  decodeRunningHold,
  decodeRunningTotals,
  encodeBound,
  encodePage,
  encodeReceiptFilter,
} from "../codec/receipts.ts";
import { encodeScopes } from "../codec/scopes.ts";
import { decodeCallError } from "../codec/status.ts";
import { decodeTransferTotal, encodeTransferTotalsQuery } from "../codec/transfer-totals.ts";
import { decodeRollUps, decodeUsageReport, encodeUsageQuery } from "../codec/usage.ts";
import {
  decodeBalances,
  decodeJournalTotals,
  decodeTransfer,
  decodeWallet,
  encodeTransferRange,
} from "../codec/wallets.ts";
import { ledgerService } from "../service.ts";
import type { Connection } from "./connection.ts";
import { faultOf } from "./link.ts";
import { LedgerLinkError } from "./link-error.ts";

/** Calls with a short deadline for reads of a few rows, and with a long one for reads of many. */
export interface RemoteCalls {
  readonly readRow: Call;
  readonly readRows: Call;
}

/** Sends every read as a unary call. The server validates pages and filters. */
export function createRemoteReads({
  readRow,
  readRows,
}: RemoteCalls): LedgerReads & { ping(): Promise<void> } {
  return {
    async balances(walletId) {
      return decodeBalances(
        (await readRow(ledgerService.GetWallet, { walletId: encodeId(walletId) })).balances,
      );
    },
    wallet: (walletId) =>
      undefinedFor("wallet_not_found", async () => {
        const { wallet } = await readRow(ledgerService.GetWallet, { walletId: encodeId(walletId) });
        return decodeWallet(wallet);
      }),
    async wallets(page, { endsBeforeMs } = {}) {
      const request = { ...encodePage(page), endsBefore: encodeBound(endsBeforeMs) ?? null };
      const { wallets, nextPageToken } = await readRows(ledgerService.ListWallets, request);
      return { items: wallets.map(decodeWallet), nextToken: nextPageToken || undefined };
    },
    async spendLimits(walletId, keyId, scopes, { omitsRuns = false } = {}) {
      const request = {
        walletId: encodeId(walletId),
        keyId: encodeText(keyId ?? ""),
        scopes: encodeScopes(scopes) ?? [],
        omitsRuns,
      };
      const limits = (await readRow(ledgerService.ListSpendLimits, request)).limits.map(
        decodeSpendLimitUsage,
      );
      // On the wire an empty key asks for every limit; here it names a key that only wallet limits bind.
      return keyId === "" ? limits.filter(isOfWallet) : limits;
    },
    fullLimits: async (walletId, query) =>
      decodeFullLimits(await readRows(ledgerService.ListFullLimits, encodeFullLimitsQuery(walletId, query))),
    receipt: (walletId, holdId) =>
      undefinedFor("hold_not_found", async () => {
        const request = { walletId: encodeId(walletId), holdId: encodeId(holdId) };
        return decodeReceipt((await readRow(ledgerService.GetHold, request)).hold);
      }),
    async receipts(filter, page) {
      const request = { filter: encodeReceiptFilter(filter), ...encodePage(page) };
      return decodeReceiptPage(await readRows(ledgerService.ListHolds, request));
    },
    async receiptsById(holdId) {
      const { holds } = await readRow(ledgerService.FindHolds, { holdId: encodeId(holdId) });
      return holds.map(decodeReceipt);
    },
    async runningHolds(walletId, page) {
      const request = { ...encodeWalletChoice(walletId), ...encodePage(page) };
      const { holds, nextPageToken } = await readRows(ledgerService.ListRunningHolds, request);
      return { items: holds.map(decodeRunningHold), nextToken: nextPageToken || undefined };
    },
    async runningTotals(walletId) {
      const { totals } = await readRows(ledgerService.SumRunningHolds, encodeWalletChoice(walletId));
      return totals.map(decodeRunningTotals);
    },
    ...createJournalReads(readRows),
    async usage(query) {
      return decodeUsageReport(await readRows(ledgerService.QueryUsage, encodeUsageQuery(query)));
    },
    async rollUps() {
      return decodeRollUps(await readRow(ledgerService.GetRollUps, {}));
    },
    async ping() {
      await readRow(ledgerService.Ping, {});
    },
  };
}

type JournalReads = Pick<
  LedgerReads,
  "credits" | "creditTotals" | "transfers" | "journalTotals" | "transferTotals"
>;

function createJournalReads(readRows: RemoteCalls["readRows"]): JournalReads {
  return {
    async credits(walletId, page, { isLive = false } = {}) {
      const request = { walletId: encodeText(walletId), ...encodePage(page), isLive };
      const { credits, nextPageToken } = await readRows(ledgerService.ListCredits, request);
      return { items: credits.map(decodeCredit), nextToken: nextPageToken || undefined };
    },
    async creditTotals(query) {
      const request = encodeCreditTotalsQuery(query);
      return (await readRows(ledgerService.SumCredits, request)).totals.map(decodeCreditTotal);
    },
    async transfers(walletId, page, range = {}) {
      const request = {
        walletId: encodeText(walletId),
        ...encodePage(page),
        ...encodeTransferRange(range),
      };
      const { transfers, nextPageToken } = await readRows(ledgerService.ListTransfers, request);
      return { items: transfers.map(decodeTransfer), nextToken: nextPageToken || undefined };
    },
    async journalTotals(walletId, { derivesCharged = false } = {}) {
      const request = { walletId: encodeText(walletId), derivesCharged };
      return decodeJournalTotals(await readRows(ledgerService.SumTransfers, request));
    },
    async transferTotals(walletId, query) {
      const request = encodeTransferTotalsQuery(walletId, query);
      const { totals } = await readRows(ledgerService.SumTransfersByScope, request);
      // An older ledger sums up by no key, which would show charges of no key.
      const isOlder = query.splitsKeys && totals.some(({ scopeId, keyId }) => scopeId && !keyId);
      if (isOlder) throw new LedgerError("unavailable");
      return totals.map(decodeTransferTotal);
    },
  };
}

function isOfWallet({ keyId, scope, each }: SpendLimit): boolean {
  return keyId === undefined && !scope && !each;
}

/** Without a wallet, the request is for all wallets. */
function encodeWalletChoice(walletId: string | undefined): { walletId?: string } {
  return walletId === undefined ? {} : { walletId: encodeText(walletId) };
}

/** Returns the row, or `undefined` when the service answers that the row does not exist. */
async function undefinedFor<Row>(code: LedgerErrorCode, read: () => Promise<Row>): Promise<Row | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof LedgerError && error.code === code) return undefined;
    throw error;
  }
}

/** Makes a unary call that changes nothing. Rejects with LedgerError. */
export type Call = <Request, Answer>(
  method: MethodDefinition<Request, Answer>,
  request: Request,
) => Promise<Answer>;

export interface CallOptions {
  /** How long one try may take. */
  readonly maxMs: number;
  /** How long a call that lost its connection is retried. */
  readonly outageMaxMs: number;
}

const PAUSE_MS = 25;

/** Waits for a connection, and retries a call whose connection was lost. */
export function createCall(
  connection: Pick<Connection, "whenUp">,
  { maxMs, outageMaxMs }: CallOptions,
): Call {
  const whenUp = () =>
    connection.whenUp().catch((error) => {
      throw new LedgerError("unavailable", error);
    });

  return async (method, request) => {
    const retryUntilMs = platform.monotonicMs() + outageMaxMs;
    for (;;) {
      const link = await whenUp();
      try {
        return await link.call(method, request, maxMs);
      } catch (thrown) {
        const error = toLedgerError(thrown);
        if (!isLost(error) || platform.monotonicMs() > retryUntilMs) throw error;
      }
      await platform.sleep(PAUSE_MS);
    }
  };
}

function toLedgerError(thrown: unknown): LedgerError {
  // Safe because grpc rejects with a ServiceError, and any other value lacks both fields.
  const { code, metadata } = thrown as Partial<ServiceError>;
  const error = decodeCallError(metadata);
  // A read has no deadline of its own: this one is the call's, which both ends notice at once.
  if (error && error.code !== "deadline_exceeded") return error;
  const fault = code === undefined ? "lost" : faultOf(code);
  return new LedgerError("unavailable", new LedgerLinkError(fault, thrown));
}

function isLost({ cause }: LedgerError): boolean {
  return cause instanceof LedgerLinkError && cause.code === "lost";
}
