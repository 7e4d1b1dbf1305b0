import { Elysia, t } from "elysia";
import type { Actor } from "../../../accounts/audit-trail.ts";
import { findScopeNames } from "../../../accounts/find-items.ts";
import { printTime } from "../../../domain/id-time.ts";
import { printUsd } from "../../../domain/money.ts";
import { readScopeFilter } from "../../../domain/scope.ts";
import { GatewayError } from "../../../errors.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import {
  type MetadataCondition,
  PAGE_SIZE_MAX,
  pagesOf,
  type Receipt,
  type ReceiptFilter,
} from "../../../ledger/records.ts";
import { platform } from "../../../platform.ts";
import { readMs } from "../../../usage/view.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { contextOf } from "../request-context.ts";
import { createLiveRequests } from "./live.ts";
import { printReceipt, printRequestRows } from "./print.ts";
import {
  type ReceiptJson,
  type RequestsQueryText,
  receiptAnswer,
  requestsAnswer,
  requestsQuery,
} from "./shapes.ts";

type Parts = PartsOf<"ledger" | "stopping" | "log">;

const PAGE_SIZE = 50;

export function requestsRoutes(parts: Parts) {
  const live = createLiveRequests(parts);
  return new Elysia()
    .use(createGuard(parts, "Requests"))
    .get("/accounts/:account/requests", ({ account, query }) => listOf(parts, account.id, query), {
      summary: "List the requests, newest first, or the dearest or slowest of them",
      needs: "requests.read",
      query: requestsQuery,
      response: requestsAnswer,
    })
    .get(
      "/accounts/:account/requests/live",
      ({ account, actor, request }) => {
        const { received, address } = contextOf(request);
        return live.open({ accountId: account.id, actor, address, received });
      },
      {
        summary: "Stream new and changed requests",
        detail: { description: "Server-sent events: `rows` with an array of new or changed requests." },
        needs: "requests.read",
      },
    )
    .get(
      "/accounts/:account/requests/:id",
      ({ account, actor, params }) => receiptOf(parts, actor, { accountId: account.id, id: params.id }),
      {
        summary: "Read the receipt of a request",
        needs: "requests.read",
        params: t.Object({ account: t.String(), id: t.String() }),
        response: receiptAnswer,
      },
    );
}

async function listOf(
  { database, ledger }: Parts,
  accountId: string,
  query: RequestsQueryText,
): Promise<typeof requestsAnswer.static> {
  const { size = PAGE_SIZE, page: token, sort } = query;
  const filter = readFilter(accountId, query);
  if (sort) {
    const { items, orderedFromMs } = await orderReceipts(ledger, filter, { sort, size });
    const rows = await printRequestRows(database, accountId, items);
    return { items: rows, next: null, searched_to: null, ordered_from: printTime(orderedFromMs) };
  }
  const { items, nextToken, searchedToMs } = await ledger.receipts(filter, { size, token });
  return {
    items: await printRequestRows(database, accountId, items),
    next: nextToken ?? null,
    searched_to: nextToken === undefined ? null : printTime(searchedToMs),
    ordered_from: null,
  };
}

/** What requests are ordered by: an index of it would cost each settlement more than these reads cost their reader. */
const ORDERS = {
  "-charged": ({ captured }: Receipt) => captured,
  "-duration": ({ outcome }: Receipt) => BigInt(outcome?.totalMs ?? -1),
} as const;

/** The newest receipts of a filter that are put in an order: at least so many, and more as long as time is left. */
const ORDERED_MIN = 250;
const ORDERED_MAX = 2 * PAGE_SIZE_MAX;
const SEARCH_MS = 100;

interface OrderedReceipts {
  readonly items: readonly Receipt[];
  /** The time of the oldest that was ordered, where older ones match too. */
  readonly orderedFromMs: number | undefined;
}

/**
 * Finds the dearest or slowest among the newest receipts of a filter. A page has as many as all before it, so that the
 * last one takes about as long: those of a rare filter are far apart.
 */
async function orderReceipts(
  ledger: Pick<Ledger, "receipts">,
  filter: ReceiptFilter,
  { sort, size }: { readonly sort: keyof typeof ORDERS; readonly size: number },
): Promise<OrderedReceipts> {
  const endMs = platform.monotonicMs() + SEARCH_MS;
  const found: Receipt[] = [];
  let wanted = ORDERED_MIN;
  let orderedFromMs: number | undefined;
  for await (const page of pagesOf((token) => ledger.receipts(filter, { size: wanted, token }))) {
    found.push(...page.items);
    const isEnd = page.nextToken === undefined;
    orderedFromMs = isEnd ? undefined : (page.searchedToMs ?? found.at(-1)?.createdAtMs);
    // A search by a condition without a roll-up ends where its time is over.
    const isOver = page.items.length < wanted || platform.monotonicMs() >= endMs;
    if (isOver || found.length >= ORDERED_MAX) break;
    wanted = Math.min(found.length, PAGE_SIZE_MAX, ORDERED_MAX - found.length);
  }
  const figureOf = ORDERS[sort];
  const ordered = found.toSorted((one, other) => Number(figureOf(other) - figureOf(one)));
  return { items: ordered.slice(0, size), orderedFromMs };
}

function readFilter(walletId: string, query: RequestsQueryText): ReceiptFilter {
  const { key: keyId, from, to, metadata, scope, page: _page, size: _size, sort: _sort, ...named } = query;
  return {
    ...named,
    walletId,
    keyId,
    fromMs: readMs(from, "from"),
    toMs: readMs(to, "to"),
    metadata: metadata === undefined ? undefined : readMetadata(metadata),
    scopes: scope === undefined ? undefined : (readScopeFilter(scope) ?? rejectScope()),
  };
}

/** Parses `name:value`; the value may hold further colons. Throws `wrong_shape`. */
function readMetadata(text: string): MetadataCondition {
  const colon = text.indexOf(":");
  if (colon < 1) throw new GatewayError("wrong_shape", { path: "metadata" });
  return { name: text.slice(0, colon), value: text.slice(colon + 1) };
}

function rejectScope(): never {
  throw new GatewayError("wrong_shape", { path: "scope" });
}

/** Reads the receipt of a request, with its arithmetic. Throws `unknown_item`. */
export async function receiptOf(
  { database, ledger }: Pick<Parts, "database" | "ledger">,
  { isOperator }: Pick<Actor, "isOperator">,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<ReceiptJson> {
  const receipt = await ledger.receipt(accountId, id.toLowerCase());
  if (!receipt) throw new GatewayError("unknown_item");
  const names = await findScopeNames(database, receipt);
  const cost = isOperator ? receipt.outcome?.upstreamCost : undefined;
  return { ...printReceipt(receipt, names), upstream_cost_usd: cost === undefined ? null : printUsd(cost) };
}
