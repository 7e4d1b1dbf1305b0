import type { ModelOutput } from "../../support/model-output.ts";
import type { Answer, ScriptRequest } from "../../support/script.ts";
import type { Expectation, Fault } from "./fault.ts";
import {
  answerOutput,
  answerStream,
  BREAK_WORD,
  endMark,
  framesBeforeEnd,
  framesOfOutput,
  framesUntil,
  OUTPUT,
  secrets,
} from "./fault-scripts.ts";
import { answers, breaks, byMode, bySurface, failsOver } from "./outcomes.ts";

/** Errors in a stream, as different hosts write them. */
const ERRORS: readonly (readonly [name: string, frame: string])[] = [
  ["an error object", `data: {"error":{"message":"${secrets.next("object")}","code":500}}\n\n`],
  ["an error text", `data: {"error":"${secrets.next("text")}"}\n\n`],
  [
    "an error event",
    `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"${secrets.next("event")}"}}\n\n`,
  ],
  ["an error event without json", `event: error\ndata: ${secrets.next("plain")}\n\n`],
  ["text that is no json", `data: ${secrets.next("words")}\n\n`],
];

/** An invalid finish reason after the whole text. */
const BAD = byMode({ whole: failsOver(200), stream: breaks({ text: OUTPUT.text ?? "" }) });

/** Faults in the body of a stream, and unusual finish reasons. */
export const STREAM_FAULTS: readonly Fault[] = [
  ...ERRORS.flatMap(([name, frame]) => [
    row(`${name} first`, () => frame, failsOver(200)),
    row(`${name} before output`, (request) => framesUntil(undefined)(request) + frame, failsOver(200)),
    row(`${name} after output`, (request) => framesUntil(BREAK_WORD)(request) + frame, breaks()),
    row(`${name} behind the finish`, (request) => framesBeforeEnd(request) + frame, answers()),
  ]),
  row("no event", () => "", failsOver(200)),
  row("comments only", () => ": nothing\n\n: to say\n\n", failsOver(200)),
  row("an end before output", framesUntil(undefined), failsOver(200)),
  row("an end without a finish", framesUntil(BREAK_WORD), breaks()),
  row(
    "an end mark without a finish",
    (request) => framesUntil(BREAK_WORD)(request) + endMark(request),
    breaks(),
  ),
  row("an end mark alone", endMark, failsOver(200)),
  row("an end without an end mark", framesBeforeEnd, answers()),
  row("a close without an end mark", framesBeforeEnd, answers(), { end: "close" }),
  row("a reset behind the finish", framesBeforeEnd, answers(), { end: "reset" }),
  row(
    "a second finish",
    (request) => framesBeforeEnd(request) + lastFinish(request) + endMark(request),
    answers(),
  ),
  row(
    "words behind the end mark",
    (request) => `${framesOfOutput(request)}data: ${secrets.next("late")}\n\n`,
    answers(),
  ),
  finish(
    "a finish in other words",
    { openai: "EOS", anthropic: "pause_turn" },
    {
      chat: answers(),
      messages: answers({ finish: "pause_turn" }),
    },
  ),
  finish("a finish that is an error", { openai: "error", anthropic: "error" }, { chat: BAD, messages: BAD }),
  // New models bring new stop reasons, which clients of messages get unchanged.
  finish(
    "an unknown finish",
    { openai: "banana", anthropic: "banana" },
    {
      chat: BAD,
      messages: answers({ finish: "banana" }),
    },
  ),
];

function row(
  name: string,
  body: (request: ScriptRequest) => string,
  expected: Expectation,
  how: Omit<Answer, "body"> = {},
): Fault {
  return { name, modes: ["stream"], scripts: [answerStream(body, how)], expected };
}

function finish(
  name: string,
  reasons: Record<ScriptRequest["protocol"], string>,
  expected: Parameters<typeof bySurface>[0],
): Fault {
  const modelOutput = (request: ScriptRequest): ModelOutput => ({
    ...OUTPUT,
    finish: reasons[request.protocol],
  });
  return {
    name,
    scripts: [(request) => answerOutput(modelOutput(request))(request)],
    expected: bySurface(expected),
  };
}

/** Returns the frame with the finish reason. */
function lastFinish(request: ScriptRequest): string {
  const frames = framesBeforeEnd(request).split(/(?<=\n\n)/);
  return frames.find((frame) => /"(finish|stop)_reason":"/.test(frame)) ?? "";
}
