import { loadPart } from "../program-files.ts";

/** A bearer token of Microsoft Entra ID. */
export interface EntraToken {
  readonly token: string;
  readonly expiresOnTimestamp: number;
}

/** Fetches a new token, or rejects. */
export type FetchToken = () => Promise<EntraToken>;

/** Returns a token that is valid for at least a minute; a promise only while none is known. */
export type TokenSource = () => string | Promise<string>;

/** A token is replaced this long before its end; meanwhile it is still used. */
const REFRESH_MS = 300_000;
/** A token is not used within this time of its end: a request takes time, and clocks differ. */
const MARGIN_MS = 60_000;
/** The least time between two tries to replace a valid token. */
const RETRY_MS = 10_000;
/** The identity provider may take this long. */
const FETCH_MS_MAX = 30_000;

/** Entra ID gave no token. The message holds nothing that it sent. */
export class EntraTokenError extends Error {
  override readonly name = "EntraTokenError";
  readonly code = "NO_CREDENTIALS";

  constructor(cause: unknown) {
    super(`Entra ID gave no token (${cause instanceof Error ? cause.name : "timeout"})`);
  }
}

interface TokenSourceOptions {
  readonly fetchToken: FetchToken;
  /** Unix milliseconds. */
  readonly now?: () => number;
  readonly fetchMsMax?: number;
}

/**
 * Keeps one token and replaces it before its end, with one fetch for all who wait. Rejects with
 * {@link EntraTokenError}; the next call tries again.
 */
export function createTokenSource({
  fetchToken,
  now = Date.now,
  fetchMsMax = FETCH_MS_MAX,
}: TokenSourceOptions): TokenSource {
  let current: EntraToken | undefined;
  let fetching: Promise<string> | undefined;
  let retryAtMs = 0;

  async function fetchOnce(): Promise<string> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(undefined), fetchMsMax);
    timer.unref();
    try {
      const fetched = await Promise.race([fetchToken(), late]);
      current = fetched;
      return fetched.token;
    } catch (cause) {
      throw new EntraTokenError(cause);
    } finally {
      clearTimeout(timer);
      retryAtMs = now() + RETRY_MS;
      fetching = undefined;
    }
  }

  return () => {
    const leftMs = current ? current.expiresOnTimestamp - now() : 0;
    if (current && leftMs > REFRESH_MS) return current.token;
    const isUsable = current !== undefined && leftMs > MARGIN_MS;
    if (current && isUsable && now() < retryAtMs) return current.token;
    fetching ??= fetchOnce();
    if (!current || !isUsable) return fetching;
    // The current token stays usable; a failure is repeated later.
    fetching.catch(() => undefined);
    return current.token;
  };
}

/**
 * Returns a function that fetches tokens as the machine's identity: by environment variables, a workload or
 * managed identity, or the Azure CLI. The package is loaded by the first fetch: it takes 35 MB.
 *
 * @see https://learn.microsoft.com/azure/developer/javascript/sdk/authentication/credential-chains
 */
export function createEntraFetch(scope: string): FetchToken {
  let loading: Promise<FetchToken> | undefined;
  const load = async (): Promise<FetchToken> => {
    const { DefaultAzureCredential } = await loadPart(() => import("@azure/identity"));
    const credential = new DefaultAzureCredential();
    return () => credential.getToken(scope);
  };
  return async () => {
    loading ??= load();
    try {
      const fetchToken = await loading;
      return await fetchToken();
    } catch (cause) {
      // Sources that were unavailable when the credential was made are asked again by the next one.
      loading = undefined;
      throw cause;
    }
  };
}
