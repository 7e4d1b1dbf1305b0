import type { TokenCredential } from "@azure/identity";
import type { Surface } from "../domain/model.ts";
import { loadPart } from "../program-files.ts";
import {
  type AccessToken,
  type AccessTokenOptions,
  type AccessTokens,
  createAccessTokens,
} from "./access-tokens.ts";
import { createCallHeaders, createTokenHeaders } from "./call-headers.ts";
import type { Transport } from "./transport.ts";
import type { AzureConfig, UpstreamCall } from "./upstream.ts";

/**
 * Azure OpenAI: deployments of OpenAI's formats. An upstream's name of a model is the name of a deployment.
 *
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/reference
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle The v1 form.
 */
export function createAzureTransport(config: AzureConfig): Transport {
  const { baseUrl, apiKey, hasResponses, apiVersion, entraScope } = config;
  const surfaces: readonly Surface[] = hasResponses
    ? ["chat", "embeddings", "responses", "compact"]
    : ["chat", "embeddings"];
  const root = baseUrl.replace(/\/openai(\/v1)?$/, "");
  const tokens =
    entraScope === undefined ? undefined : createEntraTokens({ fetchToken: createEntraFetch(entraScope) });
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
      const token = tokens.read();
      return typeof token === "string"
        ? { url, headers: tokenHeadersOf(token, call) }
        : token.then((fetched) => ({ url, headers: tokenHeadersOf(fetched, call) }));
    },
    async probe() {
      const headers = tokens ? { authorization: `Bearer ${await tokens.read()}` } : { "api-key": apiKey };
      return { url: `${base}/models${query}`, headers };
    },
  };
}

/** How long the identity provider may take. */
const FETCH_MS_MAX = 30_000;
const UNUSABLE_MS = 60_000;

/** Entra ID gave no token. The message holds nothing that it sent. */
export class EntraTokenError extends Error {
  override readonly name = "EntraTokenError";
  readonly code = "NO_CREDENTIALS";

  constructor(cause: unknown) {
    super(`Entra ID gave no token (${cause instanceof Error ? cause.name : "unknown"})`);
  }
}

/** Keeps a token of Entra ID. */
export function createEntraTokens(
  options: Pick<AccessTokenOptions, "fetchToken"> & Partial<AccessTokenOptions>,
): AccessTokens {
  const toFault = (cause: unknown) => new EntraTokenError(cause);
  return createAccessTokens({ fetchMsMax: FETCH_MS_MAX, unusableMs: UNUSABLE_MS, toFault, ...options });
}

/**
 * Returns a function that fetches tokens as the machine's identity: by environment variables, a workload or
 * managed identity, or the Azure CLI. The package is loaded by the first fetch: it takes 35 MB.
 *
 * @see https://learn.microsoft.com/azure/developer/javascript/sdk/authentication/credential-chains
 */
function createEntraFetch(scope: string): () => Promise<AccessToken> {
  let loading: Promise<TokenCredential> | undefined;
  const load = async (): Promise<TokenCredential> => {
    const { DefaultAzureCredential } = await loadPart(() => import("@azure/identity"));
    return new DefaultAzureCredential();
  };
  return async () => {
    loading ??= load();
    try {
      const fetched = await (await loading).getToken(scope);
      if (!fetched) throw new Error("No credential has a token");
      return { token: fetched.token, expiresAtMs: fetched.expiresOnTimestamp };
    } catch (cause) {
      // Sources that were unavailable when the credential was made are asked again by the next one.
      loading = undefined;
      throw cause;
    }
  };
}
