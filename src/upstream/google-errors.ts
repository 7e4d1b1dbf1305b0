import { isJsonObject, type JsonObject, objectsIn, parseAnyJson } from "../wire/json/read.ts";

const ERROR_BYTES_MAX = 64 * 1024;
/** Statuses whose body changes what the gateway does. */
const READ_STATUSES: readonly number[] = [400, 429, 503];

/**
 * Completes an error of Google's APIs, which state in the body alone when to retry, and that a key is invalid.
 * Returns other answers as they are.
 *
 * @see https://cloud.google.com/apis/design/errors
 */
export function readGoogleAnswer(answer: Response): Response | Promise<Response> {
  return READ_STATUSES.includes(answer.status) ? completeError(answer) : answer;
}

async function completeError(answer: Response): Promise<Response> {
  const body = await readHead(answer);
  const error = readError(body);
  const headers = new Headers(answer.headers);
  headers.delete("content-length");
  const delayS = error && readRetryDelayS(error);
  if (delayS !== undefined && !headers.has("retry-after")) headers.set("retry-after", String(delayS));
  return new Response(body, { status: error ? statusOf(error, answer.status) : answer.status, headers });
}

/** Reads at most 64 KiB, and drops the rest. */
async function readHead(answer: Response): Promise<string> {
  const reader = answer.body?.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (reader && bytes < ERROR_BYTES_MAX) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    bytes += value.byteLength;
  }
  if (bytes >= ERROR_BYTES_MAX) await reader?.cancel();
  return Buffer.concat(chunks).toString("utf8");
}

/** Returns the error of a body; a streamed call is refused with an array of one. */
function readError(body: string): JsonObject | undefined {
  const parsed = parseAnyJson(body);
  const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  return isJsonObject(first) && isJsonObject(first.error) ? first.error : undefined;
}

/** Errors of the operator's account come as 400, which would be taken for the request's own fault. */
function statusOf(error: JsonObject, status: number): number {
  if (status !== 400) return status;
  if (objectsIn(error.details).some(({ reason }) => String(reason).startsWith("API_KEY_"))) return 401;
  return error.status === "FAILED_PRECONDITION" ? 403 : status;
}

/** Returns the delay of a `RetryInfo` such as "34.07s", in whole seconds rounded up. */
function readRetryDelayS(error: JsonObject): number | undefined {
  for (const { retryDelay } of objectsIn(error.details)) {
    const [, seconds] = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(String(retryDelay)) ?? [];
    if (seconds !== undefined) return Math.ceil(Number(seconds));
  }
  return undefined;
}
