import type { Surface } from "../domain/model.ts";
import { loadPart } from "../program-files.ts";
import { createCallHeaders } from "./call-headers.ts";
import type { Transport } from "./transport.ts";
import type { UpstreamCall, UpstreamConfig } from "./upstream.ts";

/**
 * Azure OpenAI: deployments of OpenAI's formats. An upstream's name of a model is the name of a deployment.
 *
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/reference
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle The v1 form.
 */
export function createAzureTransport(config: UpstreamConfig): Transport {
  const { baseUrl, apiKey, hasResponses, apiVersion } = config;
  const surfaces: readonly Surface[] = hasResponses
    ? ["chat", "embeddings", "responses", "compact"]
    : ["chat", "embeddings"];
  const root = baseUrl.replace(/\/openai(\/v1)?$/, "");
  const tokens = createTokens(config);
  const keyHeadersOf = createCallHeaders({ "api-key": apiKey });
  const tokenHeadersOf = createTokenHeaders();
  const base = apiVersion === undefined ? `${root}/openai/v1` : `${root}/openai`;
  const query = apiVersion === undefined ? "" : `?api-version=${apiVersion}`;
  const urlOf = ({ path, model }: UpstreamCall) =>
    query === "" ? `${base}${path}` : `${base}/deployments/${encodeURIComponent(model)}${path}${query}`;

  return {
    surfacesOf: () => surfaces,
    request(call) {
      const url = urlOf(call);
      if (!tokens) return { url, headers: keyHeadersOf(call) };
      const token = tokens();
      return typeof token === "string"
        ? { url, headers: tokenHeadersOf(token, call) }
        : token.then((fetched) => ({ url, headers: tokenHeadersOf(fetched, call) }));
    },
    async probe() {
      const headers = tokens ? { authorization: `Bearer ${await tokens()}` } : { "api-key": apiKey };
      return { url: `${base}/models${query}`, headers };
    },
  };
}

function createTokens({ entraScope }: UpstreamConfig): TokenSource | undefined {
  return entraScope === undefined
    ? undefined
    : createTokenSource({ fetchToken: createEntraFetch(entraScope) });
}

/** Prepares headers once for each token. */
function createTokenHeaders(): (token: string, call: UpstreamCall) => Headers {
  let prepared:
    | { readonly token: string; readonly headersOf: ReturnType<typeof createCallHeaders> }
    | undefined;
  return (token, call) => {
    if (prepared?.token !== token)
      prepared = { token, headersOf: createCallHeaders({ authorization: `Bearer ${token}` }) };
    return prepared.headersOf(call);
  };
}

/** A bearer token of Microsoft Entra ID. */
export interface EntraToken {
  readonly token: string;
  readonly expiresOnTimestamp: number;
}

/** Fetches a new token, or rejects. */
type FetchToken = () => Promise<EntraToken>;

/** Returns a token that is valid for at least a minute; a promise only while none is known. */
type TokenSource = () => string | Promise<string>;

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
function createEntraFetch(scope: string): FetchToken {
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
