import type { GetHoldRequest__Output } from "../../gen/tollgate/ledger/v1/GetHoldRequest.ts";
import type { GetHoldResponse } from "../../gen/tollgate/ledger/v1/GetHoldResponse.ts";
import type { GetWalletRequest__Output } from "../../gen/tollgate/ledger/v1/GetWalletRequest.ts";
import type { GetWalletResponse } from "../../gen/tollgate/ledger/v1/GetWalletResponse.ts";
import type { ListHoldsRequest__Output } from "../../gen/tollgate/ledger/v1/ListHoldsRequest.ts";
import type { ListHoldsResponse } from "../../gen/tollgate/ledger/v1/ListHoldsResponse.ts";
import type { ListSpendLimitsRequest__Output } from "../../gen/tollgate/ledger/v1/ListSpendLimitsRequest.ts";
import type { ListSpendLimitsResponse } from "../../gen/tollgate/ledger/v1/ListSpendLimitsResponse.ts";
import type { ListTransfersRequest__Output } from "../../gen/tollgate/ledger/v1/ListTransfersRequest.ts";
import type { ListTransfersResponse } from "../../gen/tollgate/ledger/v1/ListTransfersResponse.ts";
import type { ListWalletsRequest__Output } from "../../gen/tollgate/ledger/v1/ListWalletsRequest.ts";
import type { ListWalletsResponse } from "../../gen/tollgate/ledger/v1/ListWalletsResponse.ts";
import type { PingResponse } from "../../gen/tollgate/ledger/v1/PingResponse.ts";
import type { QueryUsageRequest__Output } from "../../gen/tollgate/ledger/v1/QueryUsageRequest.ts";
import type { QueryUsageResponse } from "../../gen/tollgate/ledger/v1/QueryUsageResponse.ts";
import { type Ledger, LedgerError } from "../../ledger/ledger.ts";
import { encodeSpendLimitUsage } from "../codec/limits.ts";
import { encodeTransfer } from "../codec/postings.ts";
import { decodePage, decodeReceiptFilter, encodeReceipt } from "../codec/receipts.ts";
import { decodeUsageQuery, encodeUsageRow } from "../codec/usage.ts";
import { encodeBalances, encodeWallet } from "../codec/wallets.ts";

/** The calls that change nothing. Each throws LedgerError or InvalidField. */
export const READS = {
  async GetWallet(ledger: Ledger, { walletId }: GetWalletRequest__Output): Promise<GetWalletResponse> {
    const wallet = await ledger.wallet(walletId);
    if (!wallet) throw new LedgerError("wallet_not_found");
    return { balances: encodeBalances(wallet.balances), wallet: encodeWallet(wallet) };
  },
  async ListWallets(ledger: Ledger, wire: ListWalletsRequest__Output): Promise<ListWalletsResponse> {
    const { items, nextToken } = await ledger.wallets(decodePage(wire));
    return { wallets: items.map(encodeWallet), nextPageToken: nextToken ?? "" };
  },
  async GetHold(ledger: Ledger, { walletId, holdId }: GetHoldRequest__Output): Promise<GetHoldResponse> {
    const receipt = await ledger.receipt(walletId, holdId);
    if (!receipt) throw new LedgerError("hold_not_found");
    return { hold: encodeReceipt(receipt) };
  },
  async ListHolds(ledger: Ledger, wire: ListHoldsRequest__Output): Promise<ListHoldsResponse> {
    const { items, nextToken } = await ledger.receipts(decodeReceiptFilter(wire.filter), decodePage(wire));
    return { holds: items.map(encodeReceipt), nextPageToken: nextToken ?? "" };
  },
  async ListTransfers(ledger: Ledger, wire: ListTransfersRequest__Output): Promise<ListTransfersResponse> {
    const { items, nextToken } = await ledger.transfers(wire.walletId, decodePage(wire));
    return { transfers: items.map(encodeTransfer), nextPageToken: nextToken ?? "" };
  },
  async ListSpendLimits(
    ledger: Ledger,
    { walletId, keyId }: ListSpendLimitsRequest__Output,
  ): Promise<ListSpendLimitsResponse> {
    const limits = await ledger.spendLimits(walletId, keyId || undefined);
    return { limits: limits.map(encodeSpendLimitUsage) };
  },
  async QueryUsage(ledger: Ledger, wire: QueryUsageRequest__Output): Promise<QueryUsageResponse> {
    const query = decodeUsageQuery(wire);
    const rows = await ledger.usage(query);
    return { rows: rows.map((row) => encodeUsageRow(row, query.groupBy)) };
  },
  async Ping(ledger: Ledger): Promise<PingResponse> {
    await ledger.ping();
    return {};
  },
};
