import { assertRead, listAt, objectAt } from "../../support/strict-json.ts";
import type { Client } from "../cases/fuzz-case.ts";
import { CANARY } from "../cases/mutate-stream.ts";
import { type ExpectedAnswer, FINISHED, isCount, type Reading } from "./expected.ts";
import { readChatStream, readChatWhole } from "./read-chat.ts";
import { readErrorResponse } from "./read-error.ts";
import { readGeminiStream, readGeminiWhole } from "./read-gemini.ts";
import { readMessageStream, readMessageWhole } from "./read-messages.ts";
import { readResponseStream, readResponseWhole } from "./read-responses.ts";

/** A response. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Decodes an answer more strictly than any client. Throws at the first violation. */
export function readAnswer(expected: ExpectedAnswer, { status, headers, text }: Received): Reading {
  const { client, stream } = expected;
  assertRead(status !== 500, "a fault of ours");
  assertRead(!JSON.stringify([...headers]).includes(CANARY), "a header of an upstream's");
  assertRead(headers.get("x-request-id") === headers.get("request-id"), "two ids");
  assertRead(!text.includes("provider-secret"), "a secret");
  if (client === "count_tokens") assertRead(status < 500, "a count that failed");
  if (status !== 200) return { ended: "failed", row: readErrorResponse({ client, status, headers, text }) };
  const type = headers.get("content-type") ?? "";
  assertRead(type.startsWith(stream ? "text/event-stream" : "application/json"), `an answer of type ${type}`);
  return readText(expected, text);
}

/** Decodes an answer with status 200. */
export function readText(expected: ExpectedAnswer, text: string): Reading {
  const { whole, streamed } = READERS[expected.client];
  return (expected.stream ? streamed : whole)(expected, text);
}

type Read = (expected: ExpectedAnswer, text: string) => Reading;

const READERS: Readonly<Record<Client, { readonly whole: Read; readonly streamed: Read }>> = {
  chat: { whole: readChatWhole, streamed: readChatStream },
  messages: { whole: readMessageWhole, streamed: readMessageStream },
  responses: { whole: readResponseWhole, streamed: readResponseStream },
  gemini: { whole: readGeminiWhole, streamed: readGeminiStream },
  embeddings: { whole: readEmbeddings, streamed: readEmbeddings },
  count_tokens: { whole: readCount, streamed: readCount },
};

function readEmbeddings({ model }: ExpectedAnswer, text: string): Reading {
  const body = objectAt(JSON.parse(text), "an answer");
  assertRead(body.model === model, "another model's name");
  assertRead(listAt(body.data).length > 0, "no data");
  return FINISHED;
}

function readCount(_wanted: ExpectedAnswer, text: string): Reading {
  assertRead(isCount(objectAt(JSON.parse(text), "a count").input_tokens), "an invalid count");
  return FINISHED;
}
