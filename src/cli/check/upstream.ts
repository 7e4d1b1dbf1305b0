import type { Protocol } from "../../domain/model.ts";
import { credentialHeaders } from "../../upstream/http-upstream.ts";
import type { UpstreamConfig } from "../../upstream/upstream.ts";

const ANSWER_MS = 5_000;
/** Path of the list of models: a free request that needs a valid key. */
const MODELS_PATH: Readonly<Record<Protocol, string>> = { openai: "/models", anthropic: "/v1/models" };

/**
 * Returns why an upstream cannot be used, as "path: what is wrong, expected something else", or `undefined`.
 * Reports redirects and rejected keys; accepts any other status, as not every upstream lists its models. The
 * text contains nothing that the upstream sent.
 * @see https://platform.openai.com/docs/api-reference/models/list
 * @see https://docs.anthropic.com/en/api/models-list
 */
export async function findUpstreamProblem(upstream: UpstreamConfig): Promise<string | undefined> {
  const place = `upstreams.${upstream.name}`;
  const status = await requestModels(upstream);
  if (typeof status === "string") {
    return `${place}.base_url: does not answer (${status}), expected an answer within 5 s`;
  }
  if (status >= 300 && status < 400) {
    return `${place}.base_url: redirects with status ${status}, expected the URL that it leads to`;
  }
  if (status !== 401 && status !== 403) return undefined;
  return `${place}.api_key: is rejected with status ${status}, expected a key that the upstream accepts`;
}

/** Resolves with the status of the response, or with the code of the network error. */
async function requestModels({ baseUrl, protocol, apiKey }: UpstreamConfig): Promise<number | string> {
  try {
    const response = await fetch(baseUrl + MODELS_PATH[protocol], {
      headers: { "anthropic-version": "2023-06-01", ...credentialHeaders(protocol, apiKey) },
      redirect: "manual",
      decompress: false,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return /^[A-Z_]+$/i.test(code) ? code : "timeout";
  }
}
