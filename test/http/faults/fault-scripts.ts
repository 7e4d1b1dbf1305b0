import { createCanaries } from "../../support/canaries.ts";
import type { ModelOutput } from "../../support/model-output.ts";
import { type Answer, answer, type Script, type ScriptRequest } from "../../support/script.ts";
import { answerWith, EVENT_STREAM, frame, streamedLines } from "../../support/scripted-answers.ts";

/** One set for all faults: what an upstream says that a client must never see. */
export const secrets = createCanaries();

/**
 * What the first route's upstream says. Each word is one token by the tokenizer and by the estimate that
 * stands in for it, so that a local count is the same on a machine that is too busy to count.
 */
export const OUTPUT: ModelOutput = { text: "one two six ten", usage: { input: 11, output: 9 } };

/** Headers that no client may see, on an answer that is good. */
const { "retry-after": _pause, ...HEADERS } = secrets.refusal(200).headers ?? {};

/** When a connection breaks, Bun's client forgets what it has not handed over: it gets the time to. */
export const LINGER_MS = 200;

/** The speech, with headers full of canaries. */
export function answerOutput(modelOutput: ModelOutput = OUTPUT, how: Omit<Answer, "body"> = {}): Script {
  return answerWith(modelOutput, { lingerMs: LINGER_MS, ...how, headers: { ...HEADERS, ...how.headers } });
}

/** An event stream with a body of its own. */
export function answerStream(
  body: (request: ScriptRequest) => string,
  how: Omit<Answer, "body"> = {},
): Script {
  return (request) =>
    answer({
      lingerMs: LINGER_MS,
      ...how,
      headers: { ...HEADERS, ...EVENT_STREAM, ...how.headers },
      body: body(request),
    })(request);
}

/** A whole body of JSON. */
export function answerJson(
  body: (request: ScriptRequest) => unknown,
  how: Omit<Answer, "body"> = {},
): Script {
  return (request) =>
    answer({
      lingerMs: LINGER_MS,
      ...how,
      headers: { ...HEADERS, ...how.headers },
      body: JSON.stringify(body(request)),
    })(request);
}

/** One script for whole answers, another for streams. */
export function wholeOrStream(scripts: { readonly whole: Script; readonly stream: Script }): Script {
  return (request) => (request.stream ? scripts.stream : scripts.whole)(request);
}

/** The frames of the speech up to the one that says a word, or all before it that say nothing. */
export function framesUntil(word: string | undefined): (request: ScriptRequest) => string {
  return (request) => {
    const text = framesOfOutput(request);
    return text.slice(0, word === undefined ? text.indexOf("\n\n") + 2 : endOf(text, word));
  };
}

/** All frames but the last, which only says that there are no more. */
export function framesBeforeEnd(request: ScriptRequest): string {
  return framesOfOutput(request).slice(0, -endMark(request).length);
}

export function endMark({ protocol }: ScriptRequest): string {
  return protocol === "openai"
    ? "data: [DONE]\n\n"
    : 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
}

/** All frames of a speech. */
export function framesOfOutput(request: ScriptRequest, modelOutput = OUTPUT): string {
  return frame(request.protocol, streamedLines(request, modelOutput));
}

function endOf(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at < 0) throw new Error(`"${word}" is not in the stream`);
  return text.indexOf("\n\n", at) + 2;
}

/** What a stream has shown when it breaks off behind its third word. */
export const BROKEN_TEXT = "one two six";
export const BREAK_WORD = " six";
