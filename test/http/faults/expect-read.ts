import { expect } from "bun:test";
import { ERRORS } from "../../../src/errors.ts";
import { expectError, expectRequestIds } from "../../support/expect-error.ts";
import { readStreamedChat, readWholeChat } from "./chat-view.ts";
import { readStreamedMessage, readWholeMessage } from "./messages-view.ts";
import type { Played } from "./play-cell.ts";
import { secrets } from "./speak.ts";
import { emptyDraft, type View } from "./view.ts";

const READERS = {
  chat: { whole: readWholeChat, stream: readStreamedChat },
  messages: { whole: readWholeMessage, stream: readStreamedMessage },
};

const CONTENT_TYPES = { whole: "application/json", stream: "text/event-stream; charset=utf-8" };

/** Every header that the gateway may send here: none is an upstream's. */
const HEADERS = new Set([
  "cache-control",
  "connection",
  "content-length",
  "content-type",
  "date",
  "request-id",
  // Our own number, which expectError bounds.
  "retry-after",
  "transfer-encoding",
  "x-accel-buffering",
  "x-request-id",
  "x-should-retry",
  "x-tollgate-balance-usd",
  "x-tollgate-cost-usd",
  "x-tollgate-max-tokens",
]);

/** Checks status, headers and every byte that the client read. */
export async function expectRead(played: Played): Promise<void> {
  const { response, body, last, cell } = played;
  const headers = [...response.headers];
  expect(headers.map(([name]) => name).filter((name) => !HEADERS.has(name))).toEqual([]);
  secrets.expectNone(JSON.stringify(headers) + body);
  if (last.shown) expectShown(played, last.shown);
  else if (last.cause) {
    const { status } = response;
    const more = last.message === undefined ? {} : { message: last.message };
    await expectError(
      new Response(body, { status, headers: response.headers }),
      cell.surface,
      last.cause,
      more,
    );
  }
}

function expectShown({ response, body, last, cell }: Played, shown: Partial<View>): void {
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe(CONTENT_TYPES[cell.mode]);
  expect(response.headers.get("x-should-retry")).toBeNull();
  expect(response.headers.get("retry-after")).toBeNull();
  const requestId = expectRequestIds(response);
  const view = READERS[cell.surface.name][cell.mode](body, cell.id);
  const error = last.cause && errorFrame(cell.surface.name, last.cause, requestId);
  expect(view).toEqual({ ...emptyDraft(), ...shown, error });
}

function errorFrame(surface: "chat" | "messages", cause: keyof typeof ERRORS, requestId: string) {
  const row = ERRORS[cause];
  const { message, code } = row;
  const type = row[surface][1];
  if (surface === "chat") return { error: { message, type, code } };
  return {
    type: "error",
    error: { type, message, details: { error_code: code } },
    request_id: requestId,
  };
}
