// The only file that loads the library of Stripe: at the first payment.
import type { Stripe } from "stripe";
import type { Nanos } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { loadPart } from "../program-files.ts";

export type { Stripe } from "stripe";

/** Secrets of Stripe. They are read at each use, as they may be rotated. */
export interface StripeSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Origin of the API, for tests: "http://127.0.0.1:12111". Default: that of Stripe. */
  readonly apiBase?: string | undefined;
}

const API_TIMEOUT_MS = 20_000;
const NANOS_PER_CENT = 10_000_000n;

/** The currency of every payment. */
export const CURRENCY = "usd";

/** Converts whole cents, as Stripe counts USD. */
export function centsToNanos(cents: number): Nanos {
  return BigInt(cents) * NANOS_PER_CENT;
}

/** Converts an amount in whole cents. */
export function nanosToCents(amount: Nanos): number {
  return Number(amount / NANOS_PER_CENT);
}

/** Returns a function that loads the library, with the key of the moment. */
export function createStripeLoader(settings: StripeSettings): () => Promise<Stripe> {
  let loading: Promise<Stripe> | undefined;
  let loadedKey: string | undefined;
  return () => {
    if (loadedKey !== settings.secretKey) loading = undefined;
    loadedKey = settings.secretKey;
    loading ??= connect(settings).catch((error) => {
      // A failed load is tried again at the next payment.
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

async function connect({ secretKey, apiBase }: StripeSettings): Promise<Stripe> {
  const { Stripe } = await loadPart(() => import("stripe"));
  return new Stripe(secretKey, {
    telemetry: false,
    maxNetworkRetries: 1,
    timeout: API_TIMEOUT_MS,
    ...(apiBase === undefined ? {} : readHost(apiBase)),
  });
}

function readHost(apiBase: string) {
  const { hostname, port, protocol } = new URL(apiBase);
  return protocol === "http:"
    ? { host: hostname, port: port || "80", protocol: "http" as const }
    : { host: hostname, port: port || "443", protocol: "https" as const };
}

/** A failed call of Stripe's API, without any of its text: `code` is "http_401", or "connection". */
class StripeFault extends Error {
  override readonly name = "StripeFault";
  readonly code: string;

  constructor(error: unknown) {
    super();
    this.code = nameFault(error);
  }
}

/** Names a failed call of Stripe's API: "http_401", or "connection". */
export function nameFault(error: unknown): string {
  const hasStatus = typeof error === "object" && error !== null && "statusCode" in error;
  return hasStatus && typeof error.statusCode === "number" ? `http_${error.statusCode}` : "connection";
}

/** Throws `payments_unavailable` for a failed call. */
export function failUnavailable(error: unknown): never {
  throw new GatewayError("payments_unavailable", { reason: new StripeFault(error) });
}
