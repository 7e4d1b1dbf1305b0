import { ERRORS, type ErrorRow } from "../../../src/errors.ts";
import { assertRead, isObject, type Json, listAt, objectAt, textAt } from "../../support/strict-json.ts";
import type { Client } from "../cases/fuzz-case.ts";
import { CANARY } from "../cases/mutate-stream.ts";

/** An error response. */
export interface ErrorResponse {
  readonly client: Client;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Error codes that only the console or the ledger may use. */
const ELSEWHERE = ["conflict", "not_authenticated", "invalid_credentials"];
const PATH = /^[\w.[\]-]{1,200}$/;
const TOO_LONG = /^prompt is too long: \d+ tokens > \d+ maximum$/;

/** Decodes an error response by the contract. Returns its row of the error table. */
export function readErrorResponse({ client, status, headers, text }: ErrorResponse): ErrorRow {
  const row = readError(client, objectAt(JSON.parse(text), "an error"));
  assertRead(status === statusOf(client, row), `status ${status} with ${row.code}`);
  assertRead(headers.get("x-should-retry") === (row.retry ? null : "false"), "wrong advice to retry");
  checkRetryAfter(headers.get("retry-after"), row, status);
  return row;
}

/** Every 429 has a retry-after; a 502 or 504 may have one. It is 1 to 60 whole seconds. */
function checkRetryAfter(pause: string | null, row: ErrorRow, status: number): void {
  const mayWait = row.retry && (status === 502 || status === 504);
  if (pause === null) assertRead(status !== 429, "a 429 without a pause");
  else
    assertRead(
      (status === 429 || mayWait) && /^([1-9]|[1-5]\d|60)$/.test(pause),
      "a pause that is not its own",
    );
}

/** Decodes the body of an error, or the error event of a stream. */
export function readError(client: Client, event: Json): ErrorRow {
  if (event.type === "response.failed") return readFailedResponse(event);
  if (client === "gemini") return readGeminiError(event);
  const isMessages = client === "messages" || client === "count_tokens";
  const { message, type, code, details } = objectAt(event.error, "an error");
  if (isMessages) assertRead(event.type === "error", "an error without the type error");
  const given = isMessages && isObject(details) ? details.error_code : code;
  const row = rowOf(textAt(message), (each) =>
    isMessages ? each.code === given : each.code === given || each.responses[1] === given,
  );
  assertRead(row[isMessages ? "messages" : "chat"][1] === type, `${row.code} of type ${String(type)}`);
  return row;
}

function readGeminiError(event: Json): ErrorRow {
  const { code, message, status, details } = objectAt(event.error, "an error");
  const { reason, domain } = objectAt(listAt(details)[0], "details");
  const row = rowOf(textAt(message), (each) => each.code === reason);
  assertRead(code === row.messages[0], `${row.code} with ${String(code)}`);
  assertRead(/^[A-Z_]+$/.test(textAt(status)) && domain === "tollgate", "an error without status or domain");
  return row;
}

function readFailedResponse(event: Json): ErrorRow {
  const response = objectAt(event.response, "a response");
  assertRead(response.status === "failed", "a failure that has not failed");
  const { code, message } = objectAt(response.error, "an error");
  return rowOf(textAt(message), (row) => row.responses[1] === code);
}

function rowOf(message: string, hasCode: (row: ErrorRow) => boolean): ErrorRow {
  assertRead(!message.includes(CANARY), "the error text of an upstream");
  const row = Object.values<ErrorRow>(ERRORS).find((each) => hasCode(each) && isMessageOf(each, message));
  assertRead(row !== undefined, `an error that is not in the table: ${message}`);
  assertRead(row.code !== "internal_error", "a fault of ours");
  assertRead(!ELSEWHERE.includes(row.code), `an outcome of ${row.code}`);
  return row;
}

function isMessageOf(row: ErrorRow, message: string): boolean {
  if (message === row.message) return true;
  if (row === ERRORS.prompt_too_long) return TOO_LONG.test(message);
  const stem = `${row.message.replace(/\.$/, "")}: `;
  return message.startsWith(stem) && PATH.test(message.slice(stem.length));
}

function statusOf(client: Client, row: ErrorRow): number {
  if (client === "responses") return row.responses[0];
  return client === "chat" || client === "embeddings" ? row.chat[0] : row.messages[0];
}
