import { Elysia, t } from "elysia";
import { findKeyNames, findScopeNames } from "../../../accounts/find-items.ts";
import { findKeys } from "../../../accounts/keys/keys.ts";
import { projectOfTemplate } from "../../../accounts/spending-limits.ts";
import { printTime } from "../../../domain/id-time.ts";
import { printUsd } from "../../../domain/money.ts";
import { SCOPE_KINDS, type Scope } from "../../../domain/scope.ts";
import { GatewayError, type SpendingLimitFacts } from "../../../errors.ts";
import type { SpendLimitUsage } from "../../../ledger/records.ts";
import { waitAtMost } from "../../../platform.ts";
import {
  causesOf,
  codeOf,
  explainRefusal,
  findHoldsOf,
  leftFor,
  neededBy,
} from "../../../refusals/explain.ts";
import {
  type FoundRefusal,
  findRefusal,
  listRefusals,
  type RefusalPosition,
  type RefusalRow,
} from "../../../refusals/reads.ts";
import { KEPT_MS, SEVERAL_KEYS } from "../../../refusals/refusal.ts";
import { readRange } from "../../../usage/view.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import {
  type RefusalDetailJson,
  type RefusalJson,
  refusalAnswer,
  refusalsAnswer,
  refusalsQuery,
} from "./shapes.ts";

type Parts = PartsOf<"ledger" | "gateway">;

const PAGE_SIZE = 100;
const WRITE_MS_MAX = 1_000;
/** The id of no key: limits of another scope bind whichever key there is. */
const NO_KEY = "-";

export function refusalsRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Requests"))
    .get("/accounts/:account/refusals", ({ account, query }) => listOf(parts, account.id, query), {
      summary: "List the refused requests of the last 7 days",
      needs: "requests.read",
      query: refusalsQuery,
      response: refusalsAnswer,
    })
    .get(
      "/accounts/:account/refusals/:request_id",
      async ({ account, params }) => {
        await writeRefusals(parts);
        const found = await findRefusal(parts.database, params.request_id, account.id);
        // A request with a receipt was not refused, whatever happened in its minute.
        const receipt =
          found && !found.isExact ? await parts.ledger.receipt(account.id, params.request_id) : undefined;
        if (!found || receipt) throw new GatewayError("unknown_item");
        return printFound(parts, found, params.request_id);
      },
      {
        summary: "Explain why a request was refused",
        needs: "requests.read",
        params: t.Object({ account: t.String(), request_id: t.String() }),
        response: refusalAnswer,
      },
    );
}

/** Writes what this process has counted, so that a request is shown at once. Waits for at most one second. */
export function writeRefusals({ gateway }: Pick<Parts, "gateway">): Promise<void> {
  return waitAtMost(WRITE_MS_MAX, gateway().refusals.flush());
}

async function listOf(
  parts: Parts,
  accountId: string,
  query: typeof refusalsQuery.static,
): Promise<typeof refusalsAnswer.static> {
  const { database, now } = parts;
  const { size = PAGE_SIZE, page, key: keyId, code } = query;
  const range = readRange(query, { nowMs: now(), defaultMs: KEPT_MS });
  await writeRefusals(parts);
  const causes = code === undefined ? undefined : causesOf(code);
  if (causes?.length === 0) return { items: [], next: null };
  const after = page === undefined ? undefined : readPage(page);
  const rows = await listRefusals(
    database,
    { accountId, ...range, keyId, causes },
    { size: size + 1, after },
  );
  const items = rows.slice(0, size);
  const names = await findKeyNames(
    database,
    accountId,
    items.map((row) => row.keyId),
  );
  const last = items.at(-1);
  return {
    items: items.map((row) => printRow(row, names)),
    next: rows.length > size && last ? printPage(last) : null,
  };
}

function printRow(row: RefusalRow, names: ReadonlyMap<string, string>): RefusalJson {
  const { money, requestedModel } = row.last;
  const isOfSeveral = row.keyId === SEVERAL_KEYS;
  return {
    minute: printTime(row.minuteMs),
    key_id: row.keyId,
    key_name: isOfSeveral ? "several keys" : (names.get(row.keyId) ?? null),
    model: isOfSeveral ? null : row.model || (requestedModel ?? null),
    code: codeOf(row.cause),
    cause: row.cause,
    text: explainRefusal(row.cause, row.last).text,
    count: row.count,
    last_request_id: row.last.id,
    needed_usd: money ? printUsd(BigInt(money.needed)) : null,
    available_usd: money ? printUsd(BigInt(money.available)) : null,
    needed: neededBy(row.last) ?? null,
    had: leftFor(row.last) ?? null,
  };
}

async function printFound(
  parts: Parts,
  { row, request, isExact, accountId }: FoundRefusal,
  requestId: string,
): Promise<RefusalDetailJson> {
  const { spendingLimit } = request;
  const names = await findScopeNames(parts.database, {
    walletId: accountId,
    keyId: row.keyId,
    scopes: scopesOf(spendingLimit),
  });
  const nameOf = (id: string) => names.get(id) ?? id;
  const { rule, cure, cureText, heldBy } = explainRefusal(row.cause, request, { keyId: row.keyId, nameOf });
  const holds = heldBy
    ? await findHoldsOf(parts.ledger, {
        walletId: accountId,
        keyId: heldBy === "key" ? row.keyId : undefined,
        scope: heldBy === "spending_limit" ? spendingLimit?.scope : undefined,
        atMs: request.atMs,
      })
    : [];
  const [key] = (await findKeys(parts.database, row.keyId)).filter((each) => each.accountId === accountId);
  return {
    ...printRow({ ...row, last: request }, names),
    last_request_id: row.last.id,
    request_id: requestId,
    exact: isExact,
    at: printTime(request.atMs),
    rule,
    held_by: holds.map(({ holdId, granted }) => ({ request_id: holdId, granted_usd: printUsd(granted) })),
    spending_limit: spendingLimit
      ? {
          ...(await printSpendingLimit(parts, accountId, spendingLimit)),
          name: nameOfLimit(spendingLimit, names),
        }
      : null,
    cure,
    cure_text: cureText,
    retry_after_s: request.retryAfterS ?? null,
    key: key ? { id: key.id, name: key.name, hint: key.hint } : null,
  };
}

/** Prints which limit refused a request, with its numbers of now; these are null for a limit that was removed. */
async function printSpendingLimit(
  { ledger }: Parts,
  walletId: string,
  { limitId, scope }: SpendingLimitFacts,
): Promise<Omit<NonNullable<RefusalDetailJson["spending_limit"]>, "name">> {
  const isRow = (limit: SpendLimitUsage) =>
    limit.limitId === limitId && (limit.subject === undefined || limit.subject === scope?.id);
  const limits = await ledger.spendLimits(walletId, ...spenderOf({ limitId, scope }));
  const limit = limits.find(isRow);
  return {
    limit_id: limitId,
    kind: scope?.kind ?? "account",
    id: scope?.id ?? null,
    limit_usd: limit ? printUsd(limit.amount) : null,
    used_usd: limit ? printUsd(limit.used) : null,
    on_hold_usd: limit ? printUsd(limit.held) : null,
    period: limit?.period ?? null,
    resets_at: printTime(limit?.resetsAtMs),
  };
}

/** The spender whose limits include this one. A limit of each end user binds those of one project. */
function spenderOf({
  limitId,
  scope,
}: Pick<SpendingLimitFacts, "limitId" | "scope">): [keyId?: string, scopes?: readonly Scope[]] {
  if (scope?.kind === "key") return [scope.id];
  const scopes = scopesOf({ scope });
  const projectId = projectOfTemplate(limitId);
  if (scopes.length === 0) return [];
  return [NO_KEY, projectId === undefined ? scopes : [...scopes, { kind: "project", id: projectId }]];
}

/** The scope of a limit; that of a key is one above. */
function scopesOf(limit: Pick<SpendingLimitFacts, "scope"> | undefined): readonly Scope[] {
  const { kind: named, id = "" } = limit?.scope ?? {};
  const kind = SCOPE_KINDS.find((each) => each === (named === "key" ? "parent_key" : named));
  return kind === undefined ? [] : [{ kind, id }];
}

/** The owner's name of what a limit binds; null where it has an id alone. */
function nameOfLimit({ scope }: SpendingLimitFacts, names: ReadonlyMap<string, string>): string | null {
  const isNamed = scope !== undefined && ["key", "project", "member"].includes(scope.kind);
  return isNamed ? (names.get(scope.id) ?? null) : null;
}

function printPage({ minuteMs, keyId, cause, model }: RefusalRow): string {
  return Buffer.from(JSON.stringify([minuteMs, keyId, cause, model])).toString("base64url");
}

/** Throws `wrong_shape` for a token that is not ours. */
function readPage(token: string): RefusalPosition {
  const position = parsePosition(Buffer.from(token, "base64url").toString());
  if (!position) throw new GatewayError("wrong_shape", { path: "page" });
  return position;
}

function parsePosition(text: string): RefusalPosition | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (!Array.isArray(parsed)) return undefined;
    const [minuteMs, keyId, cause, model]: readonly unknown[] = parsed;
    const isText = (value: unknown): value is string =>
      typeof value === "string" && value.isWellFormed() && !value.includes("\0");
    const isRight = Number.isSafeInteger(minuteMs) && isText(keyId) && isText(cause) && isText(model);
    return isRight ? { minuteMs: Number(minuteMs), keyId, cause, model } : undefined;
  } catch {
    return undefined;
  }
}
