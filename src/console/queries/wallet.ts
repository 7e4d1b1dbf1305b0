import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf, ItemOf } from "../query.ts";
import { type RangeSearch, resolveRange } from "../ranges.ts";
import { orderIn } from "../search.ts";

export type Transfer = ItemOf<typeof transfersQuery>;
export type Credit = ItemOf<typeof creditsQuery>;
export type Hold = ItemOf<typeof holdsQuery>;
export type Statement = ItemOf<typeof statementsQuery>;
export type AutoTopUp = DataOf<typeof autoTopUpQuery>;
export type Proof = Awaited<ReturnType<typeof fetchProof>>;

/** Every kind of entry, in the words of the console. */
export const TRANSFER_KINDS = {
  top_up: "top-up",
  correction: "correction",
  refund: "refund",
  settlement: "request",
  expiry_capture: "expired request",
  late_settlement: "late request",
  charge: "charge",
  credit_expiry: "expired credit",
} as const;
export type TransferKind = keyof typeof TRANSFER_KINDS;

export function isTransferKind(text: string | undefined): text is TransferKind {
  return text !== undefined && Object.hasOwn(TRANSFER_KINDS, text);
}

/** Where the wallet's page is: a tab and a page of its rows. */
export interface WalletSearch extends RangeSearch {
  readonly page?: string;
  readonly q?: string;
  readonly sort?: string;
  readonly kind?: string;
  /** "all", also those of which nothing is left. */
  readonly credits?: string;
}

const HOLDS_EVERY_MS = 5_000;
const CHECKOUT_EVERY_MS = 2_000;
const PAGE_SIZE = 25;
/** Credits with money left, which have one page. */
const LIVE_MAX = 200;

const walletOf = (account: string) => api.accounts({ account }).wallet;
export const fetchProof = (account: string) => call(() => walletOf(account).proof.get());

export const USUAL_RANGE = "90d";

export const transfersQuery = (account: string, search: WalletSearch) => {
  const { from, to } = resolveRange(search, { usual: USUAL_RANGE });
  const { page, kind } = search;
  const query = { size: PAGE_SIZE, from, to, ...(page && { page }), ...(isTransferKind(kind) && { kind }) };
  return queryOptions({
    queryKey: ["account", account, "wallet", "transfers", query],
    queryFn: () => call(() => walletOf(account).transfers.get({ query })),
    placeholderData: keepPreviousData,
  });
};

/** The orders of credits, beside those of other tabs that the URL may have. */
const CREDIT_ORDERS = ["left", "amount", "expired", "ends", "created"];

/** Named below the wallet, so that a top-up renews it. */
export const creditsQuery = (account: string, { page, credits, q, sort }: WalletSearch) => {
  const isAll = credits === "all";
  const chosen = { ...(page && { page }), ...(q && { q }), ...orderIn(sort, CREDIT_ORDERS) };
  const query = { size: isAll ? PAGE_SIZE : LIVE_MAX, live: !isAll, ...chosen };
  return queryOptions({
    queryKey: ["account", account, "wallet", "credits", query],
    queryFn: () => call(() => walletOf(account).credits.get({ query })),
    placeholderData: keepPreviousData,
  });
};

export const holdsQuery = (account: string, page: string | undefined) => {
  const query = { size: PAGE_SIZE, ...(page && { page }) };
  return queryOptions({
    queryKey: ["account", account, "wallet", "holds", page],
    queryFn: () => call(() => walletOf(account).holds.get({ query })),
    refetchInterval: HOLDS_EVERY_MS,
  });
};

/** The automatic top-up, asked for again while its payment or its card is on its way. */
export const autoTopUpQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "wallet", "auto-top-up"],
    queryFn: () => call(() => walletOf(account)["auto-top-up"].get()),
    refetchInterval: HOLDS_EVERY_MS,
  });

export const fetchPayment = (account: string, payment: string) =>
  call(() => walletOf(account).payments({ payment }).get());

export const statementsQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "wallet", "statements"],
    queryFn: () => call(() => walletOf(account).statements.get()),
  });

/** A payment that the browser came back from, asked for until it is paid or has expired. */
export const checkoutQuery = (account: string, checkout: string) =>
  queryOptions({
    queryKey: ["account", account, "checkouts", checkout],
    queryFn: () => call(() => walletOf(account).checkouts({ checkout }).get()),
    refetchInterval: ({ state }) => (state.data?.state === "open" ? CHECKOUT_EVERY_MS : false),
  });

/** The subscription of an account, as its members see it. */
export type OwnSubscription = NonNullable<DataOf<typeof subscriptionQuery>["subscription"]>;

export const subscriptionQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "wallet", "subscription"],
    queryFn: () => call(() => api.accounts({ account }).subscription.get()),
  });

/** A plan that owners may buy. */
export type Offer = DataOf<typeof offersQuery>["items"][number];

export const offersQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "offers"],
    queryFn: () => call(() => api.accounts({ account }).plans.get()),
  });
