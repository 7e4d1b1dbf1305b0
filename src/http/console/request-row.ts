import { findKeyNames } from "../../accounts/find-items.ts";
import type { Database } from "../../db/database.ts";
import { printUsd } from "../../domain/money.ts";
import { inputTokensOf } from "../../domain/usage.ts";
import type { Receipt } from "../../ledger/records.ts";
import { printTime } from "../../time.ts";
import type { RequestRow } from "./request-shapes.ts";

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

export function printRequestRow(receipt: Receipt, names: ReadonlyMap<string, string>): RequestRow {
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
