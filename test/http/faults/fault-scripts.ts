import { createCanaries } from "../../support/canaries.ts";
import type { ModelOutput } from "../../support/model-output.ts";
import { type Answer, answer, type Script, type ScriptRequest } from "../../support/script.ts";
import { answerWith, EVENT_STREAM, frame, streamedLines } from "../../support/scripted-answers.ts";

/** The canaries of all upstream answers. No client may see one. */
export const secrets = createCanaries();

/**
 * The output of the first route's upstream. Each word is one token, both counted and estimated, so that a
 * local count does not depend on the load of the machine.
 */
export const OUTPUT: ModelOutput = { text: "one two six ten", usage: { input: 11, output: 9 } };

/** Headers of a good answer that no client may see. */
const { "retry-after": _pause, ...HEADERS } = secrets.refusal(200).headers ?? {};

/** Time for Bun's client to hand over bytes before the connection breaks. */
export const LINGER_MS = 1_000;

/** Answers the output, with canaries in the headers. */
export function answerOutput(modelOutput: ModelOutput = OUTPUT, how: Omit<Answer, "body"> = {}): Script {
  return answerWith(modelOutput, { lingerMs: LINGER_MS, ...how, headers: { ...HEADERS, ...how.headers } });
}

/** Answers an event stream with this body. */
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

/** Answers a JSON body. */
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

/** Uses one script for whole answers and another for streams. */
export function wholeOrStream(scripts: { readonly whole: Script; readonly stream: Script }): Script {
  return (request) => (request.stream ? scripts.stream : scripts.whole)(request);
}

/** Returns the frames up to the one that contains a word, or only the first frame without a word. */
export function framesUntil(word: string | undefined): (request: ScriptRequest) => string {
  return (request) => {
    const text = framesOfOutput(request);
    return text.slice(0, word === undefined ? text.indexOf("\n\n") + 2 : endOf(text, word));
  };
}

/** Returns all frames but the end mark. */
export function framesBeforeEnd(request: ScriptRequest): string {
  return framesOfOutput(request).slice(0, -endMark(request).length);
}

export function endMark({ protocol }: ScriptRequest): string {
  return protocol === "openai"
    ? "data: [DONE]\n\n"
    : 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
}

/** Returns all frames of an output. */
export function framesOfOutput(request: ScriptRequest, modelOutput = OUTPUT): string {
  return frame(request.protocol, streamedLines(request, modelOutput));
}

function endOf(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at < 0) throw new Error(`"${word}" is not in the stream`);
  return text.indexOf("\n\n", at) + 2;
}

/** The text of a stream that breaks off after its third word. */
export const BROKEN_TEXT = "one two six";
export const BREAK_WORD = " six";
