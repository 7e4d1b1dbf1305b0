import { printUsd } from "../domain/money.ts";
import { signBody } from "../domain/signature.ts";
import { inputTokensOf } from "../domain/usage.ts";
import type { HttpExport, OtlpExport } from "./export-config.ts";
import { type Batch, type Line, printLines, type Sink, SinkError } from "./line.ts";

type PostConfig = Omit<HttpExport, "name" | "start" | "batchLines" | "batchBytes">;

/**
 * Posts batches as lines of JSON (`application/x-ndjson`), signed when there is a secret. Any status from 200 to
 * 299 takes the batch.
 */
export function createHttpSink({ secret, ...config }: PostConfig, now = Date.now): Sink {
  return createPostSink(config, async (batch, signal) => {
    const body = encode(printLines(batch.lines), config);
    const signed = secret ? { "tollgate-signature": signBody(secret, body, now()) } : {};
    const headers = { "content-type": "application/x-ndjson", "tollgate-delivery": batch.id, ...signed };
    const answer = await post({ config, body, headers, signal });
    await answer.body?.cancel();
    return 0;
  });
}

/**
 * Posts batches as OTLP log records in JSON to `URL/v1/logs`.
 *
 * @see https://opentelemetry.io/docs/specs/otlp/#otlphttp
 */
export function createOtlpSink(
  given: Omit<OtlpExport, "kind" | "name" | "start" | "batchLines" | "batchBytes">,
): Sink {
  const config = { ...given, url: `${given.url.replace(/\/+$/, "")}/v1/logs` };
  return createPostSink(config, async ({ lines }, signal) => {
    const body = encode(printLogs(lines), config);
    const answer = await post({ config, body, headers: { "content-type": "application/json" }, signal });
    return readRejected(await readBeginning(answer));
  });
}

type Post = (batch: Batch, signal: AbortSignal) => Promise<number>;

function createPostSink({ timeoutMs }: Pick<PostConfig, "timeoutMs">, send: Post): Sink {
  return {
    async deliver(batch, signal) {
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        return await send(batch, AbortSignal.any([signal, timeout]));
      } catch (cause) {
        if (cause instanceof SinkError) throw cause;
        throw new SinkError(timeout.aborted ? "no answer in time" : `not reached: ${codeOf(cause)}`, {
          cause,
        });
      }
    },
    close: () => undefined,
  };
}

type Connection = Pick<PostConfig, "url" | "headers" | "gzip">;

function encode(text: string, { gzip }: Pick<Connection, "gzip">): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  return gzip ? Bun.gzipSync(bytes) : bytes;
}

interface Request {
  readonly config: Connection;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The most bytes of an answer that are read. */
const ANSWER_BYTES_MAX = 65_536;

/** Sends a request and returns its answer of a status from 200 to 299. Follows no redirect. */
async function post({
  config: { url, headers: own, gzip },
  body,
  headers,
  signal,
}: Request): Promise<Response> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "user-agent": "Tollgate-Export/1",
      ...headers,
      ...(gzip ? { "content-encoding": "gzip" } : {}),
      ...own,
    },
    body,
    redirect: "manual",
    // A kept connection that the receiver has closed would fail the next batch.
    keepalive: false,
    signal,
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw refusalOf(response);
  }
  return response;
}

async function readBeginning({ body }: Response): Promise<string> {
  if (!body) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (text.length < ANSWER_BYTES_MAX) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

/** The longest wait that a receiver may ask for. */
const WAIT_SECONDS_MAX = 600;

function refusalOf({ status, headers }: Response): SinkError {
  const seconds = Number(/^\d{1,6}$/.exec(headers.get("retry-after") ?? "")?.[0] ?? 0);
  const waitMs = Math.min(seconds, WAIT_SECONDS_MAX) * 1_000;
  return new SinkError(`status ${status}`, { waitMs, isTooLarge: status === 413 });
}

function codeOf(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[\w]{1,64}$/.test(code) ? code : "unknown fault";
}

/** A member of a log record: an attribute value of OTLP in JSON. Integers are texts. */
type Value =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly boolValue: boolean };

const INFO = 9;

/**
 * Prints lines as a request of OTLP logs: one record per line, whose body is the line. Attributes repeat what
 * collectors filter by, under the names of OpenTelemetry's GenAI conventions where there is one.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
export function printLogs(lines: readonly Line[]): string {
  const logRecords = lines.map((line) => {
    const time = `${line.atMs}000000`;
    return {
      timeUnixNano: time,
      observedTimeUnixNano: time,
      severityNumber: INFO,
      severityText: "INFO",
      eventName: `tollgate.${line.type}`,
      body: { stringValue: line.text },
      attributes: attributesOf(line),
    };
  });
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "tollgate" } }] };
  const scopeLogs = [{ scope: { name: "tollgate.exports" }, logRecords }];
  return JSON.stringify({ resourceLogs: [{ resource, scopeLogs }] });
}

function attributesOf({ id, type, entry: { walletId, accountName, transfer, receipt } }: Line) {
  const outcome = receipt?.outcome;
  const usage = outcome?.usage;
  return [
    ...text("tollgate.line.id", id),
    ...text("tollgate.line.type", type),
    ...text("tollgate.account.id", walletId),
    ...text("tollgate.account.name", accountName),
    ...text("tollgate.key.id", receipt?.keyId),
    ...text("tollgate.request.id", receipt?.holdId),
    ...text("tollgate.outcome", outcome?.outcome),
    ...text("tollgate.charged_usd", receipt && printUsd(receipt.captured)),
    ...text("tollgate.transfer.amount_usd", transfer && printUsd(transfer.amount)),
    ...text("gen_ai.request.model", receipt?.request.model),
    ...text("tollgate.upstream", outcome?.upstream),
    ...text("tollgate.upstream_model", outcome?.upstreamModel),
    ...whole("gen_ai.usage.input_tokens", usage && inputTokensOf(usage)),
    ...whole("gen_ai.usage.cache_read.input_tokens", usage?.cachedInputTokens || undefined),
    ...whole("gen_ai.usage.output_tokens", usage?.outputTokens),
  ];
}

function text(key: string, value: string | undefined): { key: string; value: Value }[] {
  return value === undefined ? [] : [{ key, value: { stringValue: value } }];
}

function whole(key: string, value: number | undefined): { key: string; value: Value }[] {
  return value === undefined ? [] : [{ key, value: { intValue: String(value) } }];
}

/** The number of records that a collector rejected, by its answer; 0 for an answer that reports none. */
function readRejected(answer: string): number {
  try {
    const count = Number(JSON.parse(answer)?.partialSuccess?.rejectedLogRecords ?? 0);
    return Number.isFinite(count) ? count : 0;
  } catch {
    return 0;
  }
}
