/** A short-lived credential of a cloud. */
export interface AccessToken {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** The current token of one upstream. */
export interface AccessTokens {
  /** Returns the token, or a promise while there is no valid one. Rejects with {@link CredentialsUnavailable}. */
  read(): string | Promise<string>;
  /** Discards the token after the provider rejected it; one that is younger than a minute is kept. */
  reject(): void;
}

/** No token could be had. The message and the code hold nothing that the provider sent. */
export class CredentialsUnavailable extends Error {
  override readonly name = "CredentialsUnavailable";
  readonly code = "NO_CREDENTIALS";

  constructor(cause: unknown) {
    super("No access token could be had", { cause });
  }
}

/** A token is renewed in the background this long before it expires. */
const RENEW_MS = 5 * 60_000;
/** A token is no longer sent this long before it expires. */
const UNUSABLE_MS = 30_000;
/** Time between two renewals in the background after one failed. */
const RETRY_MS = 10_000;
const YOUNG_MS = 60_000;

/** A token with the time at which it was fetched, in Unix milliseconds. */
interface Held extends AccessToken {
  readonly fetchedAtMs: number;
}

/**
 * Keeps one token, and fetches the next one before it expires. All calls share one fetch, so that a burst asks
 * the provider once. `now` returns Unix milliseconds.
 */
export function createAccessTokens(fetchToken: () => Promise<AccessToken>, now = Date.now): AccessTokens {
  let held: Held | undefined;
  let pending: Promise<string> | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;

  function renew(): Promise<string> {
    pending ??= fetchToken()
      .then(
        (fetched) => {
          held = { ...fetched, fetchedAtMs: now() };
          return fetched.token;
        },
        (fault: unknown) => {
          failedAtMs = now();
          throw new CredentialsUnavailable(fault);
        },
      )
      .finally(() => {
        pending = undefined;
      });
    return pending;
  }

  function renewInBackground(): void {
    if (!pending && Math.abs(now() - failedAtMs) >= RETRY_MS) renew().catch(() => undefined);
  }

  return {
    read() {
      const leftMs = held ? held.expiresAtMs - now() : 0;
      if (!held || leftMs <= UNUSABLE_MS) return renew();
      if (leftMs <= RENEW_MS) renewInBackground();
      return held.token;
    },
    reject() {
      if (held && Math.abs(now() - held.fetchedAtMs) >= YOUNG_MS) held = undefined;
    },
  };
}
