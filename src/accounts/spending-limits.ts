import type { Database } from "../db/database.ts";
import { endLease, tryLease } from "../db/leases.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { isTimeZone, type LimitPeriod } from "../domain/period.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { SpendLimit, SpendLimitUsage } from "../ledger/records.ts";
import { platform } from "../platform.ts";

/** The most that may be spent per period; periods are in UTC without a time zone. */
export interface SpendingLimit {
  readonly amount: Nanos;
  readonly period: LimitPeriod;
  /** An IANA name. */
  readonly timeZone?: string | undefined;
}

/**
 * What an owner limits: a key with the keys below it, a project, each end user of a project by itself, one member,
 * or each member by itself. The default project has the id of its account.
 */
export type LimitTarget =
  | { readonly kind: "key"; readonly keyId: string }
  | { readonly kind: "project"; readonly projectId: string }
  | { readonly kind: "each_end_user"; readonly projectId: string }
  | { readonly kind: "member"; readonly personId: string }
  | { readonly kind: "each_member" };

type Binding = Pick<SpendLimit, "limitId" | "keyId" | "scope" | "each">;

/** Returns the id of a target's limit, and the holds that it binds. */
function bindingOf(target: LimitTarget): Binding {
  switch (target.kind) {
    case "key":
      return { limitId: target.keyId, keyId: target.keyId };
    case "project":
      return ofScope(`project:${target.projectId}`, { kind: "project", id: target.projectId });
    case "each_end_user": {
      const project = ofScope(`project:${target.projectId}:each_end_user`, {
        kind: "project",
        id: target.projectId,
      });
      return { ...project, each: "end_user" };
    }
    case "member":
      return ofScope(`member:${target.personId}`, { kind: "member", id: target.personId });
    case "each_member":
      return { limitId: "each_member", keyId: undefined, each: "member" };
  }
}

function ofScope(limitId: string, scope: NonNullable<SpendLimit["scope"]>): Binding {
  return { limitId, keyId: undefined, scope };
}

const EACH_END_USER = /^project:(.+):each_end_user$/s;

/** The project that a limit of each of its end users binds; `undefined` for other limits. */
export function projectOfTemplate(limitId: string): string | undefined {
  return EACH_END_USER.exec(limitId)?.[1];
}

/** Sets the limit of a target in the ledger, or removes it. Nothing was spent yet for a target that is new. */
export async function putSpendingLimit(
  ledger: Pick<Ledger, "setSpendLimit" | "deleteSpendLimit">,
  walletId: string,
  target: LimitTarget,
  limit: SpendingLimit | null,
  isNew = false,
): Promise<void> {
  const binding = bindingOf(target);
  if (limit)
    await ledger.setSpendLimit({ ...limit, ...binding, walletId, ...(isNew && { countsFromNow: true }) });
  else await ledger.deleteSpendLimit({ walletId, limitId: binding.limitId });
}

/** Finds the limit of a target among those of its wallet. */
export function limitAmong(
  limits: readonly SpendLimitUsage[],
  target: LimitTarget,
): SpendLimitUsage | undefined {
  const { limitId } = bindingOf(target);
  return limits.find((limit) => limit.limitId === limitId);
}

/** Rejects a time zone that no calendar has, with `wrong_shape`. */
export function requireTimeZone(limit: SpendingLimit | null | undefined, path = "spending_limit"): void {
  const { timeZone = "UTC" } = limit ?? {};
  if (!isTimeZone(timeZone)) throw new GatewayError("wrong_shape", { path: `${path}.time_zone` });
}

/** What the audit trail shows of a limit, under its name; nothing without one. */
export function describeSpendingLimit(
  limit: SpendingLimit | null | undefined,
  name: "spending_limit" | "end_user_limit" = "spending_limit",
): object {
  if (!limit) return {};
  const { amount, period, timeZone } = limit;
  return { [name]: { amount_usd: printUsd(amount), period, time_zone: timeZone } };
}

/** Whether a limit lets its target spend more, or at another time, than the one before it. */
export function allowsMore(before: SpendingLimit | undefined, after: SpendingLimit | undefined): boolean {
  if (!before) return false;
  const { period, timeZone = "UTC" } = before;
  const isSamePeriod = after?.period === period && (after.timeZone ?? "UTC") === timeZone;
  return !after || !isSamePeriod || after.amount > before.amount;
}

/** Longer than any call of the ledger takes. */
const LEASE_MS = 30_000;

/**
 * Edits of the limits of one thing follow each other in all processes, so that the ledger gets them in the order of
 * their audit entries. Rejects with `conflict` while another one runs; a killed one blocks for 30 s.
 */
export async function whileLeased<Result>(
  { database, now = platform.now }: { readonly database: Database; readonly now?: () => number },
  job: string,
  edit: () => Promise<Result>,
): Promise<Result> {
  const lease = { job, holder: platform.uuid(), ms: LEASE_MS };
  if (!(await tryLease(database, lease, now))) throw new GatewayError("conflict");
  try {
    return await edit();
  } finally {
    // A lease that cannot be given back ends by itself.
    await endLease(database, lease).catch(() => undefined);
  }
}
