import type { ValueEdit } from "../json/edit.ts";
import { isSet, type JsonObject } from "../json/read.ts";

/**
 * Betas that change what a request costs or how much it may read. They reach an upstream only where the operator
 * allows them; every other beta passes, because clients send many of them and fail without.
 * @see https://platform.claude.com/docs/en/api/beta-headers
 */
const PRICED = new RegExp(
  [
    // A wider window, and a dearer price for what is beyond the usual one.
    "context-?\\d|\\d[km]-context|long-context",
    // A faster answer at several times the price.
    "fast-mode",
    // Another model, with a price of its own, works within the request or takes it over.
    "advisor-tool|server-side-fallback",
    // Who pays for the request, and with what.
    "fallback-credit|user-profiles-billing",
  ].join("|"),
  "i",
);

const NO_BETAS: readonly string[] = [];

const WINDOW = /context-(\d{1,4})([km])\b/i;
const WINDOW_UNITS: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

/** Members of a body that some hosts read betas from. */
export const BETA_FIELDS = ["betas", "anthropic_beta"] as const;

/** The betas that a request names in its header and body. */
export function namedBetas(
  header: string | undefined,
  inBody: readonly string[] | undefined,
): readonly string[] {
  if (header === undefined) return inBody ?? NO_BETAS;
  return inBody ? [...listBetas(header), ...inBody] : listBetas(header);
}

/** The betas of a header's value or of a body's member; what is neither text nor a list of texts has none. */
function listBetas(value: unknown): readonly string[] {
  if (typeof value === "string") return value.split(/[\s,;]+/).filter(Boolean);
  return Array.isArray(value) ? value.filter((each) => typeof each === "string").flatMap(listBetas) : [];
}

/** The betas that an upstream may get, given which of the priced ones its operator allows. */
function allowBetas(betas: readonly string[], allowed: readonly string[]): readonly string[] {
  return betas.filter((beta) => !PRICED.test(beta) || isAllowed(beta, allowed));
}

/** The betas that a body names; `undefined` when it has no such member, as nearly all have none. */
export function readBodyBetas(body: JsonObject): readonly string[] | undefined {
  const fields = BETA_FIELDS.filter((field) => isSet(body[field]));
  return fields.length === 0 ? undefined : fields.flatMap((field) => listBetas(body[field]));
}

/** Edits that leave in a body the betas that an upstream may get. */
export function allowBodyBetas(allowed: readonly string[] = []): Readonly<Record<string, ValueEdit>> {
  const edit: ValueEdit = (value) => allowBetasIn(value, allowed);
  return Object.fromEntries(BETA_FIELDS.map((field) => [field, edit]));
}

/** A member that names no beta in a form that a host takes is left out. */
function allowBetasIn(json: string | undefined, allowed: readonly string[]): string | undefined {
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
  if (!isList && typeof value !== "string") return undefined;
  const betas = listBetas(value);
  const kept = allowBetas(betas, allowed);
  return kept.length === betas.length ? json : JSON.stringify(kept);
}

/** The value of an `anthropic-beta` header with the betas that an upstream may get; "" for none. */
export function allowHeaderBetas(header: string, allowed: readonly string[] = []): string {
  const betas = listBetas(header);
  const kept = allowBetas(betas, allowed);
  return kept.length === betas.length ? header : kept.join(",");
}

/** The context window that the allowed ones of some betas open, as the widest of their names says; 0 for none. */
export function windowOfBetas(betas: readonly string[], allowed: readonly string[] = []): number {
  const windows = allowBetas(betas, allowed).map((beta) => {
    const [, count, unit = ""] = WINDOW.exec(beta) ?? [];
    return Number(count ?? 0) * (WINDOW_UNITS[unit.toLowerCase()] ?? 0);
  });
  return Math.max(0, ...windows);
}

function isAllowed(beta: string, allowed: readonly string[]): boolean {
  return allowed.some((name) => (name.endsWith("*") ? beta.startsWith(name.slice(0, -1)) : beta === name));
}
