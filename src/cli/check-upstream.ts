import type { Protocol } from "../domain/model.ts";
import { credentialHeaders } from "../upstream/http-upstream.ts";
import type { UpstreamConfig } from "../upstream/upstream.ts";

const ANSWER_MS = 5_000;
/** Lists models: costs nothing and tells whether the key is accepted. */
const MODELS_PATH: Readonly<Record<Protocol, string>> = { openai: "/models", anthropic: "/v1/models" };

/**
 * Why an upstream cannot be used, as "path: what is wrong, what is expected". Any answer but a refused
 * key is good enough: not every upstream lists its models. Repeats nothing that the upstream said.
 */
export async function findUpstreamFault(upstream: UpstreamConfig): Promise<string | undefined> {
  const place = `upstreams.${upstream.name}`;
  const status = await askStatus(upstream);
  if (status === undefined) return `${place}.base_url: does not answer, expected an answer within 5 s`;
  if (status !== 401 && status !== 403) return undefined;
  return `${place}.api_key: is refused with status ${status}, expected a key that the upstream accepts`;
}

async function askStatus({ baseUrl, protocol, apiKey }: UpstreamConfig): Promise<number | undefined> {
  try {
    const answer = await fetch(baseUrl + MODELS_PATH[protocol], {
      headers: { "anthropic-version": "2023-06-01", ...credentialHeaders(protocol, apiKey) },
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await answer.body?.cancel();
    return answer.status;
  } catch {
    return undefined;
  }
}
