import { findKeyNames } from "../../../accounts/find-items.ts";
import type { Database } from "../../../db/database.ts";
import { printTime } from "../../../domain/id-time.ts";
import { printPicos, printPrice, printUsd } from "../../../domain/money.ts";
import type { ScopeKind } from "../../../domain/scope.ts";
import { inputTokensOf } from "../../../domain/usage.ts";
import { printSaved } from "../../../ledger/print-receipt.ts";
import type { Receipt } from "../../../ledger/records.ts";
import { linesOf, outcomeText, sourceText } from "../../../usage/receipt-lines.ts";
import type { ReceiptJson, RequestRow } from "./shapes.ts";

/** Prints receipts of one account as rows, with the names of their keys. */
export async function printRequestRows(
  database: Database,
  accountId: string,
  receipts: readonly Receipt[],
): Promise<RequestRow[]> {
  const names = await findKeyNames(
    database,
    accountId,
    receipts.map(({ keyId }) => keyId),
  );
  return receipts.map((receipt) => printRequestRow(receipt, names));
}

function printRequestRow(receipt: Receipt, names: ReadonlyMap<string, string>): RequestRow {
  const { request, outcome } = receipt;
  const usage = outcome?.usage;
  return {
    id: receipt.holdId,
    at: printTime(receipt.createdAtMs),
    model: request.model,
    upstream: outcome?.upstream ?? null,
    key_id: receipt.keyId,
    key_name: names.get(receipt.keyId) ?? null,
    surface: request.surface,
    state: receipt.state,
    outcome: outcome?.outcome ?? null,
    input_tokens: usage ? inputTokensOf(usage) : null,
    cached_input_tokens: usage?.cachedInputTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
    first_output_ms: outcome?.firstOutputMs ?? null,
    total_ms: outcome?.totalMs ?? null,
    granted_usd: printUsd(receipt.granted),
    charged_usd: printUsd(receipt.captured),
    source: outcome?.source ?? null,
  };
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

/** The scopes that have names beside their ids. */
const NAMED: ReadonlySet<ScopeKind> = new Set(["parent_key", "project", "member"]);

export function printReceipt(
  receipt: Receipt,
  names: ReadonlyMap<string, string>,
): Omit<ReceiptJson, "upstream_cost_usd"> {
  const { granted, captured, outcome } = receipt;
  const isReleased = receipt.state !== "held" && granted > captured;
  return {
    ...printRequestRow(receipt, names),
    scopes: receipt.scopes.map(({ kind, id }) => ({
      kind,
      id,
      name: NAMED.has(kind) ? (names.get(id) ?? null) : null,
    })),
    resolved_at: printTime(receipt.resolvedAtMs),
    late: receipt.late,
    refunded_usd: printUsd(receipt.refunded),
    released_usd: printUsd(isReleased ? granted - captured : 0n),
    upstream_model: outcome?.upstreamModel ?? null,
    tier: outcome?.tier ?? null,
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
