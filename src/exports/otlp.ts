import { printUsd } from "../domain/money.ts";
import { inputTokensOf } from "../domain/usage.ts";
import type { Line } from "./line.ts";

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
export function readRejected(answer: string): number {
  try {
    const count = Number(JSON.parse(answer)?.partialSuccess?.rejectedLogRecords ?? 0);
    return Number.isFinite(count) ? count : 0;
  } catch {
    return 0;
  }
}
