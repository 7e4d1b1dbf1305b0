import type { MessagesHost } from "../../domain/model.ts";
import type { ClientHeaders, OptIns } from "../format.ts";
import type { ValueEdit } from "../json/edit.ts";
import { isSet, type JsonObject } from "../json/read.ts";
import type { HostOptions, RequestHead } from "../model-request.ts";

/**
 * Betas that change the price of a request or the size of its context window. An upstream receives one only
 * if the operator allows it. All other betas pass, because clients send many and fail without them.
 *
 * @see https://platform.claude.com/docs/en/api/beta-headers
 */
const PRICED = new RegExp(
  [
    // A larger context window, with a higher price beyond the usual one.
    "context-?\\d|\\d[km]-context|long-context",
    // A faster answer at several times the price.
    "fast-mode",
    // A second model with its own price, which helps with the request or answers it.
    "advisor-tool|server-side-fallback",
    // Another payer or another means of payment.
    "fallback-credit|user-profiles-billing",
  ].join("|"),
  "i",
);

const NO_BETAS: readonly string[] = [];

const WINDOW = /context-(\d{1,4})([km])\b/i;
const WINDOW_UNITS: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

const HEADER = "anthropic-beta";
/** Body fields from which some hosts read betas. */
export const BETA_FIELDS = ["betas", "anthropic_beta"] as const;

/** The betas of a request: what each host is sent of them, and what they change. */
export const betas: OptIns = {
  optionsFor: (route, messagesHost, headers) => ({
    betas: route.betas,
    messagesHost,
    headerBetas: messagesHost && headers[HEADER],
  }),
  headersFor: headersWithBetas,
  windowOn(route, headers, request) {
    const named = namedBetas(headers[HEADER], request.betas);
    return named.length === 0 ? 0 : windowOfBetas(named, route.betas);
  },
};

function headersWithBetas(
  headers: ClientHeaders,
  request: RequestHead,
  { betas: allowed, messagesHost: host }: HostOptions,
): ClientHeaders {
  const named = headers[HEADER];
  const sent = host
    ? betasInHeader(host, namedBetas(named, request.betas), allowed)
    : named && allowHeaderBetas(named, allowed);
  if (sent === named) return headers;
  const { [HEADER]: _, ...others } = headers;
  return sent ? { ...others, [HEADER]: sent } : others;
}

/** The header of betas for a host that reads it; "" where the body has them. */
function betasInHeader(host: MessagesHost, named: readonly string[], allowed?: readonly string[]): string {
  return host.betasIn === "body" ? "" : betasOfHost(named, host, allowed).join(",");
}

/** Returns the betas that a request names in its `anthropic-beta` header and in its body. */
export function namedBetas(
  header: string | undefined,
  bodyBetas: readonly string[] | undefined,
): readonly string[] {
  if (header === undefined) return bodyBetas ?? NO_BETAS;
  return bodyBetas ? [...listBetas(header), ...bodyBetas] : listBetas(header);
}

/** Returns the betas that a body names, or `undefined` for a body without a beta field. */
export function readBodyBetas(body: JsonObject): readonly string[] | undefined {
  const fields = BETA_FIELDS.filter((field) => isSet(body[field]));
  return fields.length === 0 ? undefined : fields.flatMap((field) => listBetas(body[field]));
}

/** Returns edits that remove from a body the priced betas that the operator does not allow. */
export function allowBodyBetas(allowed: readonly string[] = []): Readonly<Record<string, ValueEdit>> {
  const edit: ValueEdit = (value) => allowBetasIn(value, allowed);
  return Object.fromEntries(BETA_FIELDS.map((field) => [field, edit]));
}

/** Returns the value of an `anthropic-beta` header without the priced betas that are not allowed, or "". */
export function allowHeaderBetas(header: string, allowed: readonly string[] = []): string {
  const betas = listBetas(header);
  const kept = allowBetas(betas, allowed);
  return kept.length === betas.length ? header : kept.join(",");
}

/**
 * Returns the betas of a request under the names of a host: those that it knows, and those that the operator
 * allows by name.
 */
export function betasOfHost(
  named: readonly string[],
  { betaNames }: MessagesHost,
  allowed: readonly string[] = [],
): readonly string[] {
  const known = allowBetas(named, allowed).flatMap((beta) => {
    if (allowed.includes(beta)) return [beta];
    const name = Object.hasOwn(betaNames, beta) ? betaNames[beta] : undefined;
    return name === undefined ? [] : [name];
  });
  return [...new Set(allowBetas(known, allowed))];
}

/** Returns the largest context window, in tokens, that the allowed betas name in their identifiers, or 0. */
export function windowOfBetas(betas: readonly string[], allowed: readonly string[] = []): number {
  const windows = allowBetas(betas, allowed).map((beta) => {
    const [, count, unit = ""] = WINDOW.exec(beta) ?? [];
    return Number(count ?? 0) * (WINDOW_UNITS[unit.toLowerCase()] ?? 0);
  });
  return Math.max(0, ...windows);
}

/** Drops a value that is neither a string nor a list of strings, because no host reads it. */
function allowBetasIn(json: string | undefined, allowed: readonly string[]): string | undefined {
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
  if (!isList && typeof value !== "string") return undefined;
  const betas = listBetas(value);
  const kept = allowBetas(betas, allowed);
  return kept.length === betas.length ? json : JSON.stringify(kept);
}

/** Splits a header value or a body field into betas. Returns an empty list for any other JSON type. */
function listBetas(value: unknown): readonly string[] {
  if (typeof value === "string") return value.split(/[\s,;]+/).filter(Boolean);
  return Array.isArray(value) ? value.filter((each) => typeof each === "string").flatMap(listBetas) : [];
}

/** Returns the betas that are free of charge or that the operator allows. */
function allowBetas(betas: readonly string[], allowed: readonly string[]): readonly string[] {
  return betas.filter((beta) => !PRICED.test(beta) || isAllowed(beta, allowed));
}

/** Compares a beta with the operator's list, in which a trailing `*` matches any ending. */
function isAllowed(beta: string, allowed: readonly string[]): boolean {
  return allowed.some((name) => (name.endsWith("*") ? beta.startsWith(name.slice(0, -1)) : beta === name));
}
