import type { Protocol } from "../../domain/model.ts";
import { credentialHeaders } from "../../upstream/http-upstream.ts";
import type { UpstreamConfig } from "../../upstream/upstream.ts";

const ANSWER_MS = 5_000;
/** Lists models: costs nothing and tells whether the key is accepted. */
const MODELS_PATH: Readonly<Record<Protocol, string>> = { openai: "/models", anthropic: "/v1/models" };

/**
 * Why an upstream cannot be used, as "path: what is wrong, what is expected". Any answer but a redirect or a
 * refused key is good enough: not every upstream lists its models. Repeats nothing that the upstream said.
 */
export async function findUpstreamProblem(upstream: UpstreamConfig): Promise<string | undefined> {
  const place = `upstreams.${upstream.name}`;
  const answer = await ask(upstream);
  if (typeof answer === "string") {
    return `${place}.base_url: does not answer (${answer}), expected an answer within 5 s`;
  }
  if (answer >= 300 && answer < 400) {
    return `${place}.base_url: redirects with status ${answer}, expected the URL that it leads to`;
  }
  if (answer !== 401 && answer !== 403) return undefined;
  return `${place}.api_key: is refused with status ${answer}, expected a key that the upstream accepts`;
}

/** The status, or the code of what kept it from coming. */
async function ask({ baseUrl, protocol, apiKey }: UpstreamConfig): Promise<number | string> {
  try {
    const answer = await fetch(baseUrl + MODELS_PATH[protocol], {
      headers: { "anthropic-version": "2023-06-01", ...credentialHeaders(protocol, apiKey) },
      redirect: "manual",
      decompress: false,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await answer.body?.cancel();
    return answer.status;
  } catch (fault) {
    const code = fault instanceof Error && "code" in fault ? String(fault.code) : "";
    return /^[A-Z_]+$/i.test(code) ? code : "timeout";
  }
}
