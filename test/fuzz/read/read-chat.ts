import { readStreamedChat, readWholeChat } from "../../http/faults/client-view.ts";
import {
  assertRead,
  type Frame,
  framesOf,
  isObject,
  type Json,
  listAt,
  objectAt,
} from "../../support/strict-json.ts";
import { type ExpectedAnswer, FINISHED, isCount, type Reading } from "./expected.ts";
import { readError } from "./read-error.ts";

const FINISHES = ["stop", "length", "tool_calls", "content_filter", "function_call"];

/**
 * Decodes a whole chat answer. A translated one must be exact; a passed-through one must have model and
 * finish.
 */
export function readChatWhole(expected: ExpectedAnswer, text: string): Reading {
  const body = objectAt(JSON.parse(text), "an answer");
  assertRead(body.model === expected.model, "another model's name");
  const choices = listAt(body.choices);
  assertRead(choices.length > 0, "no choices");
  for (const each of choices) {
    const { finish_reason: finish } = objectAt(each, "a choice");
    assertRead(FINISHES.includes(String(finish)), "an invalid finish");
  }
  if (expected.isPassthrough) return FINISHED;
  readWholeChat(text, expected.model);
  assertRead(body.object === "chat.completion", "another object");
  checkUsage(body.usage);
  return FINISHED;
}

/** Decodes a chat stream by the same rules as a whole answer. */
export function readChatStream(expected: ExpectedAnswer, text: string): Reading {
  const frames = framesOf(text);
  const failure = frames.find(({ json }) => json !== "[DONE]" && isFailure(json));
  const reading: Reading = failure
    ? { ended: "failed", row: readError("chat", objectAt(failure.json, "an error")) }
    : FINISHED;
  if (failure) assertRead(failure === frames.at(-1), "an error that is not the last event");
  else assertRead(frames.at(-1)?.json === "[DONE]", "a stream without an end");
  readChunks(expected, frames);
  if (!expected.isPassthrough) readPrinted(expected, frames, text);
  return reading;
}

function isFailure(json: Json): boolean {
  return json.error !== undefined && json.error !== null;
}

/** Rules of every stream: at most one finish per choice, with a known reason, and no end without a finish. */
function readChunks({ model, choices, wantsUsage }: ExpectedAnswer, frames: readonly Frame[]): void {
  const finished = new Set<unknown>();
  for (const { json } of frames) {
    if (json === "[DONE]") {
      assertRead(finished.size > 0 && finished.size <= choices, "an end without a finish");
      continue;
    }
    if (isFailure(json)) {
      assertRead(finished.size < choices, "a finish and an error");
      continue;
    }
    assertRead(json.model === model, "another model's name");
    assertRead(Array.isArray(json.choices), "a chunk without choices");
    if (isObject(json.usage))
      assertRead(wantsUsage && listAt(json.choices).length === 0, "usage out of its place");
    for (const each of listAt(json.choices)) {
      const { finish_reason: finish, index } = objectAt(each, "a choice");
      if (finish === null || finish === undefined) continue;
      assertRead(FINISHES.includes(String(finish)), "an invalid finish");
      assertRead(!finished.has(index), "a second finish");
      finished.add(index);
    }
  }
}

/** Rules of a translated stream: exactly the format of the reference. */
function readPrinted({ model, wantsUsage }: ExpectedAnswer, frames: readonly Frame[], text: string): void {
  const chunks = frames.flatMap(({ json }) => (json === "[DONE]" || isFailure(json) ? [] : [json]));
  const heads = new Set(chunks.map(({ id, created, object }) => JSON.stringify([id, created, object])));
  assertRead(heads.size <= 1, "chunks of several answers");
  const [first] = chunks;
  assertRead(
    !first || objectAt(objectAt(listAt(first.choices)[0], "a choice").delta, "a delta").role === "assistant",
    "no role",
  );
  const usages = chunks.filter(({ usage }) => isObject(usage));
  assertRead(
    usages.length <= 1 && (usages.length === 0 || usages[0] === chunks.at(-1)),
    "usage out of its place",
  );
  for (const { usage } of usages) checkUsage(usage);
  const bare = wantsUsage ? withoutUsage(text) : text;
  readStreamedChat(bare, model);
}

function withoutUsage(text: string): string {
  return text
    .split(/(?<=\n\n)/)
    .filter((frame) => !frame.includes('"choices":[],'))
    .join("");
}

function checkUsage(usage: unknown): void {
  if (usage === undefined || usage === null) return;
  const {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
  } = objectAt(usage, "usage");
  assertRead(isCount(prompt) && isCount(completion), "usage that is no count");
  assertRead(Number(prompt) + Number(completion) === total, "an invalid total");
}
