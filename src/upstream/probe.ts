import type { Transport } from "./transport.ts";

/** How long an upstream may take to list its models. */
const ANSWER_MS_MAX = 5_000;
const ANSWERED = 200;

/**
 * Asks an upstream for the list of its models, which costs nothing. Resolves with the status of the response,
 * or with the code of the network error; with 200 for any answer to a probe without credentials. Nothing that the upstream sent is returned.
 */
export async function probeUpstream(transport: Pick<Transport, "probe">): Promise<number | string> {
  try {
    const { url, headers, isAnonymous } = await transport.probe();
    const response = await fetch(url, {
      headers,
      redirect: "manual",
      decompress: false,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    await response.body?.cancel();
    return isAnonymous ? ANSWERED : response.status;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return /^[A-Z_]+$/i.test(code) ? code : "timeout";
  }
}
