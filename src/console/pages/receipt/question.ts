import { formatExact, readUsd } from "../../format.ts";
import { formatUtc } from "../../times.ts";
import type { ReceiptData } from "./queries.ts";

/** What an operator needs to look into a request, as a text to send. Holds no message and no secret. */
export function writeQuestion(account: string, receipt: ReceiptData): string {
  const {
    id,
    at,
    model,
    upstream,
    key_name,
    key_id,
    state,
    charged_usd,
    refunded_usd,
    outcome_text,
    attempts,
  } = receipt;
  const tried = attempts.map(
    ({ upstream: name, status }) => `${name} ${status === 0 ? "no answer" : status}`,
  );
  const refunded = readUsd(refunded_usd) > 0n ? `, ${formatExact(readUsd(refunded_usd))} refunded` : "";
  return [
    "Please look into this request:",
    `Request: ${id}`,
    `Account: ${account}`,
    `Time: ${formatUtc(at)}`,
    `Key: ${key_name ?? key_id}`,
    `Model: ${model}${upstream ? ` by ${upstream}` : ""}`,
    `State: ${state}. ${outcome_text}`,
    `Charged: ${formatExact(readUsd(charged_usd))}${refunded}`,
    `Attempts: ${tried.join(", ") || "none"}`,
    "What I expected instead: ",
  ].join("\n");
}
