import { parseAnyJson } from "../wire/json/read.ts";
import { askProbe } from "./http-upstream.ts";
import type { Transport } from "./transport.ts";

/** What an upstream answers to the question for its models. */
export interface ModelList {
  /** Status of the answer, or the code of the network error. */
  readonly status: number | string;
  /** Its names of them; `undefined` where the answer is no list, or a part of one. */
  readonly models: readonly string[] | undefined;
}

/** Lists of aggregators have a few thousand models of some kilobytes. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const NAME_LENGTH_MAX = 256;

/** Asks an upstream for its models, which costs nothing. Returns names alone of what it sent. */
export async function listUpstreamModels(transport: Pick<Transport, "probe">): Promise<ModelList> {
  const probe = async () => wholeList(await transport.probe());
  const answer = await askProbe({ probe }, readBounded);
  if (typeof answer === "string") return { status: answer, models: undefined };
  const { status, body, isAnonymous } = answer;
  return { status, models: status === 200 && !isAnonymous ? readNames(body) : undefined };
}

/** Asks for as many models as one answer may have, uncompressed. */
function wholeList<Probe extends { readonly url: string; readonly headers: object }>(probe: Probe) {
  const url = new URL(probe.url);
  if (url.searchParams.has("pageSize")) url.searchParams.set("pageSize", "1000");
  else if (Object.hasOwn(probe.headers, "anthropic-version")) url.searchParams.set("limit", "1000");
  return { ...probe, url: url.href, headers: { ...probe.headers, "accept-encoding": "identity" } };
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) return "";
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Reads `{ data: [{ id }] }` of OpenAI and Anthropic, `{ models: [{ name }] }` of Google, and a bare list. */
function readNames(text: string): readonly string[] | undefined {
  const answer = parseAnyJson(text);
  const { data, models, has_more: more, nextPageToken: next } = Object(answer);
  const list = [answer, data, models].find(Array.isArray);
  if (!list || more === true || typeof next === "string") return undefined;
  return list.flatMap((each: unknown) => {
    const { id, name } = Object(each);
    const found = typeof id === "string" ? id : name;
    if (typeof found !== "string" || found.length > NAME_LENGTH_MAX) return [];
    return [found.replace(/^(publishers\/\w+\/)?models\//, "")];
  });
}
