import { isTier, type Tier } from "../../../domain/tiers.ts";
import { limitValuesOf, readLimit, type SpendingLimitValues, textOf } from "../../spending-limits.ts";
import { formatDay, readLastDay } from "../../times.ts";

/** What can be set on a key, as the API takes it. `null` is no limit of its own, no expiry, every model. */
export interface KeyValues {
  readonly name: string;
  readonly spending_limit: SpendingLimitValues | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly concurrent_requests: number | null;
  readonly models: string[] | null;
  readonly expires_at: string | null;
  readonly tiers: Tier[] | null;
  readonly allows_paid_tools: boolean;
  readonly allows_clamp: boolean;
  readonly allows_children: boolean;
  /** The account's id, or `null`, for its default project. */
  readonly project_id: string | null;
}

type Rate = { readonly limit: number; readonly source: "key" | "default" } | null;
type RateName = "requests_per_minute" | "tokens_per_minute" | "concurrent_requests";

/** A key as the API answers it, as far as its values go. */
type ShownKey = Omit<KeyValues, "spending_limit" | RateName> &
  Readonly<Record<RateName, Rate>> & { readonly spending_limit: Parameters<typeof limitValuesOf>[0] };

/** Reads the values of a key. A limit that comes from the default counts as unset. */
export function valuesOf(key: ShownKey): KeyValues {
  const own = (rate: Rate) => (rate?.source === "key" ? rate.limit : null);
  const { name, spending_limit, models, tiers, expires_at, allows_paid_tools, project_id } = key;
  return {
    name,
    spending_limit: limitValuesOf(spending_limit),
    requests_per_minute: own(key.requests_per_minute),
    tokens_per_minute: own(key.tokens_per_minute),
    concurrent_requests: own(key.concurrent_requests),
    models,
    expires_at,
    tiers,
    allows_paid_tools,
    allows_clamp: key.allows_clamp,
    allows_children: key.allows_children,
    project_id,
  };
}

/** Reads the form of a key. An expiry whose day was not changed keeps its second, and rates without fields stay. */
export function readKeyForm(form: FormData, before?: KeyValues): KeyValues {
  const hasRates = form.has("requests_per_minute") || before === undefined;
  return {
    name: textOf(form, "name"),
    ...readLimitFields(form),
    ...(hasRates ? {} : ratesOf(before)),
    models: form.get("scope") === "some" ? form.getAll("models").map(String).filter(Boolean).sort() : null,
    expires_at: readExpiry(textOf(form, "expires_at"), before?.expires_at ?? null),
    tiers: form.get("tier_scope") === "some" ? form.getAll("tiers").filter(isTier) : null,
    allows_paid_tools: form.get("allows_paid_tools") === "on",
    allows_clamp: form.get("allows_clamp") === "on",
    allows_children: form.get("allows_children") === "on",
    project_id: textOf(form, "project_id") || (before?.project_id ?? null),
  };
}

function ratesOf({ requests_per_minute, tokens_per_minute, concurrent_requests }: KeyValues) {
  return { requests_per_minute, tokens_per_minute, concurrent_requests };
}

/** Reads the limits of a form, as keys and the simulator have them. */
export function readLimitFields(form: FormData) {
  return {
    spending_limit: readLimit(form),
    requests_per_minute: readCount(form, "requests_per_minute"),
    tokens_per_minute: readCount(form, "tokens_per_minute"),
    concurrent_requests: readCount(form, "concurrent_requests"),
  };
}

/** The end of a day in the viewer's zone; the unchanged day of a known expiry keeps its second. */
export function readExpiry(day: string, before: string | null): string | null {
  const isUnchanged = before !== null && day === formatDay(Date.parse(before));
  return isUnchanged ? before : readLastDay(day);
}

function readCount(form: FormData, name: string): number | null {
  const text = textOf(form, name);
  return text === "" ? null : Number(text);
}
