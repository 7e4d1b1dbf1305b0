import { Elysia, t } from "elysia";
import type { Actor } from "../../accounts/audit-trail.ts";
import { findKeyNames } from "../../accounts/find-items.ts";
import { printPicos, printPrice, printUsd } from "../../domain/money.ts";
import { GatewayError } from "../../errors.ts";
import { printSaved } from "../../ledger/print-receipt.ts";
import type { MetadataCondition, Receipt, ReceiptFilter } from "../../ledger/records.ts";
import { printTime } from "../../time.ts";
import { linesOf, outcomeText, sourceText } from "../../usage/receipt-lines.ts";
import { readMs } from "../../usage/view.ts";
import { contextOf } from "./client-address.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { createLiveRequests } from "./live.ts";
import { printRequestRow, printRequestRows } from "./request-row.ts";
import {
  type ReceiptJson,
  type RequestsQueryText,
  receiptAnswer,
  requestsAnswer,
  requestsQuery,
} from "./request-shapes.ts";

const PAGE_SIZE = 50;

export function requestsRoutes(parts: ConsoleParts) {
  const live = createLiveRequests(parts);
  return new Elysia()
    .use(createGuard(parts))
    .get("/accounts/:account/requests", ({ account, query }) => listOf(parts, account.id, query), {
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
        needs: "requests.read",
        detail: { description: "Server-sent events: `rows` with an array of new or changed requests." },
      },
    )
    .get(
      "/accounts/:account/requests/:id",
      ({ account, actor, params }) => receiptOf(parts, actor, { accountId: account.id, id: params.id }),
      {
        needs: "requests.read",
        params: t.Object({ account: t.String(), id: t.String() }),
        response: receiptAnswer,
      },
    );
}

async function listOf(
  { database, ledger }: ConsoleParts,
  accountId: string,
  query: RequestsQueryText,
): Promise<typeof requestsAnswer.static> {
  const { size = PAGE_SIZE, page: token } = query;
  const filter = readFilter(accountId, query);
  const { items, nextToken, searchedToMs } = await ledger.receipts(filter, { size, token });
  return {
    items: await printRequestRows(database, accountId, items),
    next: nextToken ?? null,
    searched_to: nextToken === undefined ? null : printTime(searchedToMs),
  };
}

function readFilter(walletId: string, query: RequestsQueryText): ReceiptFilter {
  const { key: keyId, model, upstream, outcome, surface, state, from, to, metadata } = query;
  return {
    walletId,
    keyId,
    model,
    upstream,
    outcome,
    surface,
    state,
    fromMs: readMs(from, "from"),
    toMs: readMs(to, "to"),
    metadata: metadata === undefined ? undefined : readMetadata(metadata),
  };
}

/** Parses `name:value`; the value may hold further colons. Throws `wrong_shape`. */
function readMetadata(text: string): MetadataCondition {
  const colon = text.indexOf(":");
  if (colon < 1) throw new GatewayError("wrong_shape", { path: "metadata" });
  return { name: text.slice(0, colon), value: text.slice(colon + 1) };
}

/** Reads the receipt of a request, with its arithmetic. Throws `unknown_item`. */
export async function receiptOf(
  { database, ledger }: Pick<ConsoleParts, "database" | "ledger">,
  { isOperator }: Pick<Actor, "isOperator">,
  { accountId, id }: { readonly accountId: string; readonly id: string },
): Promise<ReceiptJson> {
  const receipt = await ledger.receipt(accountId, id.toLowerCase());
  if (!receipt) throw new GatewayError("unknown_item");
  const names = await findKeyNames(database, accountId, [receipt.keyId]);
  const cost = isOperator ? receipt.outcome?.upstreamCost : undefined;
  return { ...printReceipt(receipt, names), upstream_cost_usd: cost === undefined ? null : printUsd(cost) };
}

/** Prints the charge of a receipt, line by line. */
export function printLines(receipt: Pick<Receipt, "captured" | "outcome">) {
  const { lines, rounding } = linesOf(receipt);
  return {
    lines: lines.map(({ name, count, price, amount }) => ({
      class: name,
      tokens: count,
      price_usd_per_million: printPrice(price),
      amount_usd: printPicos(amount),
    })),
    rounding_usd: printPicos(rounding),
  };
}

function printReceipt(
  receipt: Receipt,
  names: ReadonlyMap<string, string>,
): Omit<ReceiptJson, "upstream_cost_usd"> {
  const { granted, captured, outcome } = receipt;
  const isReleased = receipt.state !== "held" && granted > captured;
  return {
    ...printRequestRow(receipt, names),
    resolved_at: printTime(receipt.resolvedAtMs),
    late: receipt.late,
    refunded_usd: printUsd(receipt.refunded),
    released_usd: printUsd(isReleased ? granted - captured : 0n),
    upstream_model: outcome?.upstreamModel ?? null,
    attempts: (outcome?.attempts ?? []).map(
      ({ upstream, key = null, reason = null, report = null, status, ms }) => ({
        ...{ upstream, key, reason, report, status, ms },
      }),
    ),
    ...printLines(receipt),
    saved_by_caching_usd: printSaved(receipt),
    source_text: sourceText(receipt),
    outcome_text: outcomeText(receipt),
    metadata: receipt.metadata ?? null,
  };
}
