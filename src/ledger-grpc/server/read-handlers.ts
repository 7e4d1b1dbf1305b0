import type { handleUnaryCall } from "@grpc/grpc-js";
import type * as Proto from "../../gen/messages.ts";
import { type Ledger, LedgerError } from "../../ledger/ledger.ts";
import { decodeTransferRange, encodeJournalTotals, encodeTransfer } from "../codec/journal.ts";
import { decodePage, decodeReceiptFilter, encodeReceipt, encodeReceiptPage } from "../codec/receipts.ts";
import { encodeRunningHold, encodeRunningTotals } from "../codec/running-holds.ts";
import { decodeUsageQuery, encodeRollUps, encodeUsageReport } from "../codec/usage.ts";
import { encodeBalances, encodeSpendLimitUsage, encodeWallet } from "../codec/wallets.ts";

/** Makes the handler of a read. A thrown value becomes the call's status. */
export type CreateRead = <Wire extends object, Response>(
  answer: (wire: Wire) => Promise<Response>,
) => handleUnaryCall<Wire, Response>;

type ReadName =
  | "GetWallet"
  | "ListWallets"
  | "GetHold"
  | "ListHolds"
  | "FindHolds"
  | "ListRunningHolds"
  | "SumRunningHolds"
  | "ListTransfers"
  | "SumTransfers"
  | "ListSpendLimits"
  | "QueryUsage"
  | "GetRollUps"
  | "Ping";

/** Returns the handlers of the calls that change nothing. */
export function createReadHandlers(
  ledger: Ledger,
  read: CreateRead,
): Pick<Proto.LedgerServiceHandlers, ReadName> {
  return {
    GetWallet: read(async ({ walletId }) => {
      const wallet = await ledger.wallet(walletId);
      if (!wallet) throw new LedgerError("wallet_not_found");
      return { balances: encodeBalances(wallet.balances), wallet: encodeWallet(wallet) };
    }),
    ListWallets: read(async (wire) => {
      const { items, nextToken } = await ledger.wallets(decodePage(wire));
      return { wallets: items.map(encodeWallet), nextPageToken: nextToken ?? "" };
    }),
    GetHold: read(async ({ walletId, holdId }) => {
      const receipt = await ledger.receipt(walletId, holdId);
      if (!receipt) throw new LedgerError("hold_not_found");
      return { hold: encodeReceipt(receipt) };
    }),
    ListHolds: read(async (wire) => {
      return encodeReceiptPage(await ledger.receipts(decodeReceiptFilter(wire.filter), decodePage(wire)));
    }),
    FindHolds: read(async ({ holdId }) => {
      return { holds: (await ledger.receiptsById(holdId)).map(encodeReceipt) };
    }),
    ListRunningHolds: read(async (wire) => {
      const { items, nextToken } = await ledger.runningHolds(wire.walletId, decodePage(wire));
      return { holds: items.map(encodeRunningHold), nextPageToken: nextToken ?? "" };
    }),
    SumRunningHolds: read(async ({ walletId }) => {
      return { totals: (await ledger.runningTotals(walletId)).map(encodeRunningTotals) };
    }),
    ListTransfers: read(async (wire) => {
      const { items, nextToken } = await ledger.transfers(
        wire.walletId,
        decodePage(wire),
        decodeTransferRange(wire),
      );
      return { transfers: items.map(encodeTransfer), nextPageToken: nextToken ?? "" };
    }),
    ListSpendLimits: read(async ({ walletId, keyId }) => {
      const limits = await ledger.spendLimits(walletId, keyId || undefined);
      return { limits: limits.map(encodeSpendLimitUsage) };
    }),
    QueryUsage: read(async (wire) => {
      const query = decodeUsageQuery(wire);
      return encodeUsageReport(await ledger.usage(query), query.groupBy);
    }),
    SumTransfers: read(async ({ walletId, derivesCharged }) => {
      return encodeJournalTotals(await ledger.journalTotals(walletId, { derivesCharged }));
    }),
    GetRollUps: read(async () => encodeRollUps(await ledger.rollUps())),
    Ping: read(async () => {
      await ledger.ping();
      return {};
    }),
  };
}
