import type { Surface } from "../domain/model.ts";
import { createCallHeaders } from "./call-headers.ts";
import { createEntraFetch, createTokenSource, type TokenSource } from "./entra-tokens.ts";
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
