import { expect } from "bun:test";
import { type Cause, ERRORS, type ErrorRow } from "../../src/errors.ts";
import { objectOf, type Surface } from "./client.ts";

type AnySurface = Surface<"chat" | "messages" | "responses">;

/**
 * Checks an error response against the error table: status, envelope, message, retry headers and both request
 * ids. `more.message` replaces the message of the table where the contract adds numbers or a path.
 */
export async function expectError(
  response: Response,
  surface: Pick<AnySurface, "name">,
  cause: Cause,
  more: { readonly message?: string } = {},
): Promise<void> {
  const row: ErrorRow = ERRORS[cause];
  const [status, type] = statusAndType(row, surface);
  const message = more.message ?? row.message;
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toStartWith("application/json");
  const requestId = expectRequestIds(response);
  expectRetryAdvice(response, row);
  expect(await objectOf(response)).toEqual(
    surface.name === "messages"
      ? { type: "error", error: { type, message, details: { error_code: row.code } }, request_id: requestId }
      : { error: { message, type, code: row.code } },
  );
}

/** Responses uses the error types of chat and a status of its own. */
function statusAndType(row: ErrorRow, { name }: Pick<AnySurface, "name">): readonly [number, string] {
  return name === "responses" ? [row.responses[0], row.chat[1]] : row[name];
}

/** Checks that both request id headers hold the same UUIDv7, and returns it. */
export function expectRequestIds({ headers }: Response): string {
  const id = headers.get("x-request-id") ?? "";
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  expect(headers.get("request-id")).toBe(id);
  return id;
}

function expectRetryAdvice({ status, headers }: Response, row: ErrorRow): void {
  expect(headers.get("x-should-retry")).toBe(row.retry ? null : "false");
  const seconds = headers.get("retry-after");
  // The error names a time only when the cooldown of every upstream is known.
  const mayWait = row.retry && (status === 502 || status === 504);
  if (status === 429 || (mayWait && seconds !== null)) {
    expect(seconds).toMatch(/^\d+$/);
    expect(Number(seconds)).toBeWithin(1, 61);
  } else expect(seconds).toBeNull();
}
