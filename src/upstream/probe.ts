import type { Protocol } from "../domain/model.ts";
import { credentialHeaders } from "./http-upstream.ts";
import type { UpstreamConfig } from "./upstream.ts";

/** How long an upstream may take to list its models. */
const ANSWER_MS_MAX = 5_000;
const MODELS_PATH: Readonly<Record<Protocol, string>> = { openai: "/models", anthropic: "/v1/models" };

/**
 * Asks an upstream for the list of its models, which costs nothing. Resolves with the status of the response,
 * or with the code of the network error. Nothing that the upstream sent is returned.
 * @see https://platform.openai.com/docs/api-reference/models/list
 * @see https://docs.anthropic.com/en/api/models-list
 */
export async function probeUpstream({
  baseUrl,
  protocol,
  apiKey,
}: Pick<UpstreamConfig, "baseUrl" | "protocol" | "apiKey">): Promise<number | string> {
  try {
    const response = await fetch(baseUrl + MODELS_PATH[protocol], {
      headers: { "anthropic-version": "2023-06-01", ...credentialHeaders(protocol, apiKey) },
      redirect: "manual",
      decompress: false,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return /^[A-Z_]+$/i.test(code) ? code : "timeout";
  }
}
