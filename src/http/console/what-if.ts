import type { Account } from "../../accounts/accounts.ts";
import { findKeyNames } from "../../accounts/names.ts";
import { costOf, type Price } from "../../domain/model.ts";
import { printUsd } from "../../domain/money.ts";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { readRange } from "./range.ts";
import type { whatIfAnswer, whatIfBody } from "./usage-shapes.ts";

interface Compared {
  readonly requests: number;
  readonly actual: bigint;
  readonly whatIf: bigint;
}

/**
 * Compares the charges of a range with those of the same tokens at the prices of another model, as shown to
 * clients. The share of cached tokens is kept; prices of long input and the rounding of each request are not
 * applied. Throws `unknown_model`.
 */
export async function compareModel(
  { database, ledger, gateway, now }: ConsoleParts,
  { id: accountId, markup }: Pick<Account, "id" | "markup">,
  body: typeof whatIfBody.static,
): Promise<typeof whatIfAnswer.static> {
  const model = gateway().catalog.find(body.model, markup);
  if (!model) throw new GatewayError("unknown_model");
  const range = readRange(body, { nowMs: now(), defaultMs: 0 });
  const query = { walletId: accountId, ...range, keyId: body.key, groupBy: ["key"] } as const;
  const { rows } = await ledger.usage(query);
  const keys = rows.map((row) => ({ keyId: String(row.group.key), ...compare(row, model.price) }));
  const names = await findKeyNames(
    database,
    accountId,
    keys.map(({ keyId }) => keyId),
  );
  const total = keys.reduce<Compared>(
    (sum, { requests, actual, whatIf }) => ({
      requests: sum.requests + requests,
      actual: sum.actual + actual,
      whatIf: sum.whatIf + whatIf,
    }),
    { requests: 0, actual: 0n, whatIf: 0n },
  );
  return {
    ...printCompared(total),
    by_key: keys
      .toSorted((one, other) => (one.actual < other.actual ? 1 : -1))
      .map(({ keyId, ...each }) => ({
        key_id: keyId,
        key_name: names.get(keyId) ?? null,
        ...printCompared(each),
      })),
  };
}

type UsageRow = Awaited<ReturnType<ConsoleParts["ledger"]["usage"]>>["rows"][number];

function compare({ requests, captured, refunded, usage }: UsageRow, price: Price): Compared {
  return { requests, actual: captured - refunded, whatIf: costOf(usage, price) };
}

function printCompared({ requests, actual, whatIf }: Compared) {
  return { requests, actual_usd: printUsd(actual), what_if_usd: printUsd(whatIf) };
}
