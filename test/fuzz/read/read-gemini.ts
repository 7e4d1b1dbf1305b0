import {
  assertRead,
  framesOf,
  isObject,
  type Json,
  listAt,
  objectAt,
  textAt,
} from "../../support/strict-json.ts";
import { type ExpectedAnswer, FINISHED, isCount, type Reading } from "./expected.ts";
import { readError } from "./read-error.ts";

/** Decodes a whole answer, or a stream that is one array. */
export function readGeminiWhole(expected: ExpectedAnswer, text: string): Reading {
  const body: unknown = JSON.parse(text);
  return readResponses(expected, Array.isArray(body) ? body : [body]);
}

/** Decodes a stream of events. An error is there twice: as an event, and as text behind it. */
export function readGeminiStream(expected: ExpectedAnswer, text: string): Reading {
  const end = text.lastIndexOf("\n\n") + 2;
  const [events, behind] = [text.slice(0, end), text.slice(end)];
  const responses = framesOf(events).map(({ event, json }) => {
    assertRead(event === undefined && json !== "[DONE]", "an event with a name, or an end mark");
    return json;
  });
  const reading = readResponses(expected, responses);
  const error = reading.ended === "failed" ? JSON.stringify(responses.at(-1)) : "";
  assertRead(behind === error, "text behind the stream that is not its error");
  return reading;
}

function readResponses(expected: ExpectedAnswer, responses: readonly unknown[]): Reading {
  const list = responses.map((each) => objectAt(each, "a response"));
  assertRead(list.length > 0, "no response");
  const position = list.findIndex(({ error }) => isObject(error));
  const answered = position < 0 ? list : list.slice(0, position);
  const ends = answered.flatMap(finishesOf);
  for (const response of answered) readResponse(expected, response);
  if (position < 0) {
    assertRead(ends.length > 0, "an end without a finish");
    if (!expected.isPassthrough) assertRead(ends.length === 1, "several finishes");
    return FINISHED;
  }
  assertRead(position === list.length - 1, "an error that is not the last response");
  assertRead(expected.choices > 1 || ends.length === 0, "a finish and an error");
  return { ended: "failed", row: readError("gemini", objectAt(list[position], "an error")) };
}

/** The finishes of a response, of a blocked prompt included. */
function finishesOf({ candidates, promptFeedback }: Json): readonly unknown[] {
  const reasons = listAt(candidates).map((each) => textAt(Object(each).finishReason));
  const finishes = reasons.filter((reason) => reason !== "" && reason !== "FINISH_REASON_UNSPECIFIED");
  const { blockReason } = Object(promptFeedback);
  return blockReason === undefined || blockReason === null ? finishes : [...finishes, blockReason];
}

function readResponse({ model, isPassthrough, choices }: ExpectedAnswer, response: Json): void {
  const { modelVersion, candidates, usageMetadata } = response;
  assertRead(modelVersion === undefined || modelVersion === model, "another model's name");
  assertRead(listAt(candidates).length <= choices, "more candidates than were asked for");
  if (isPassthrough) return;
  assertRead(modelVersion === model, "no model's name");
  for (const each of listAt(candidates)) {
    const { content, index } = objectAt(each, "a candidate");
    assertRead(index === 0, "another candidate");
    const { role, parts } = objectAt(content, "a content");
    assertRead(role === "model" && listAt(parts).length > 0, "a content without role or parts");
  }
  if (usageMetadata === undefined) return;
  const usage = objectAt(usageMetadata, "usage");
  const { promptTokenCount: prompt, candidatesTokenCount: output, thoughtsTokenCount: thoughts = 0 } = usage;
  assertRead([prompt, output, thoughts, usage.totalTokenCount].every(isCount), "usage that is no count");
  const sum = Number(prompt) + Number(output) + Number(thoughts);
  assertRead(sum === usage.totalTokenCount, "an invalid total");
}
