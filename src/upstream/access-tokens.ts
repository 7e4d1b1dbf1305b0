import { within } from "../platform.ts";

/** A short-lived credential of a cloud. */
export interface AccessToken {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** The current token of one upstream. */
export interface AccessTokens {
  /** Returns the token, or a promise while there is no valid one. Rejects with the fault of the options. */
  read(): string | Promise<string>;
  /** Discards the token after the provider rejected it; one that is younger than a minute is kept. */
  reject(): void;
}

export interface AccessTokenOptions {
  /** Asks the identity provider for a new token, or rejects. */
  fetchToken(): Promise<AccessToken>;
  /** How long the identity provider may take. */
  readonly fetchMsMax: number;
  /** A token is no longer sent this long before it expires: a request takes time, and clocks differ. */
  readonly unusableMs: number;
  /** Creates the error of a failed fetch, which must hold nothing that the provider sent. */
  toFault(cause: unknown): Error;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** A token is renewed in the background this long before it expires. */
const RENEW_MS = 300_000;
/** The least time between two renewals in the background. */
const RETRY_MS = 10_000;
const YOUNG_MS = 60_000;

/** A token with the time at which it was fetched, in Unix milliseconds. */
interface Held extends AccessToken {
  readonly fetchedAtMs: number;
}

/**
 * Keeps one token, and fetches the next one before it expires. All calls share one fetch, so that a burst asks
 * the provider once. After a failed fetch the next call without a valid token tries again.
 */
export function createAccessTokens(options: AccessTokenOptions): AccessTokens {
  const { fetchToken, fetchMsMax, unusableMs, toFault, now = Date.now } = options;
  let held: Held | undefined;
  let pending: Promise<string> | undefined;
  let triedAtMs = Number.NEGATIVE_INFINITY;

  async function fetchOnce(): Promise<string> {
    try {
      const fetched = await within(fetchMsMax, fetchToken(), () => {
        throw new Error("No token came in time");
      });
      held = { ...fetched, fetchedAtMs: now() };
      return fetched.token;
    } catch (cause) {
      throw toFault(cause);
    } finally {
      triedAtMs = now();
      pending = undefined;
    }
  }

  function renew(): Promise<string> {
    pending ??= fetchOnce();
    return pending;
  }

  return {
    read() {
      const leftMs = held ? held.expiresAtMs - now() : 0;
      if (!held || leftMs <= unusableMs) return renew();
      const isRenewable = leftMs <= RENEW_MS && Math.abs(now() - triedAtMs) >= RETRY_MS;
      if (isRenewable && !pending) renew().catch(() => undefined);
      return held.token;
    },
    reject() {
      if (held && Math.abs(now() - held.fetchedAtMs) >= YOUNG_MS) held = undefined;
    },
  };
}
