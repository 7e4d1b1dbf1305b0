import { type Answer, answer, type Script, type ScriptRequest, type Step } from "../../support/script.ts";
import { chatLines, chatWhole, frame, messagesLines, messagesWhole } from "../../support/scripted-answers.ts";
import type { Fault } from "./fault.ts";
import {
  answerJson,
  answerOutput,
  answerStream,
  BREAK_WORD,
  framesUntil,
  LINGER_MS,
  OUTPUT,
  secrets,
  wholeOrStream,
} from "./fault-scripts.ts";
import { answers, breaks, byMode, failsFinally, failsOver } from "./outcomes.ts";

const sentence = secrets.next("sentence");

/** Bodies with status 200 that are no valid answer. */
const NO_ANSWERS: readonly (readonly [name: string, answer: Answer])[] = [
  ["nothing", { body: "" }],
  ["an empty object", { body: "{}" }],
  ["a list", { body: "[]" }],
  ["a null", { body: "null" }],
  ["a text", { body: JSON.stringify(sentence) }],
  ["an error object", { body: JSON.stringify({ error: { message: sentence, type: "server_error" } }) }],
  ["an error text", { body: JSON.stringify({ error: sentence }) }],
  [
    "an error of anthropic",
    { body: JSON.stringify({ type: "error", error: { type: "api_error", message: sentence } }) },
  ],
  ["html", { body: `<h1>${sentence}</h1>`, headers: { "content-type": "text/html" } }],
  ["words", { body: sentence, headers: { "content-type": "text/plain" } }],
  ["bytes that are no gzip", { body: sentence, headers: { "content-encoding": "gzip" } }],
  [
    "gzip that is cut",
    { body: JSON.stringify(chatWhole(OUTPUT)), gzip: true, cutAt: 60, end: "close", lingerMs: LINGER_MS },
  ],
];

/** Bodies with status 200, whole and streamed. */
export const BODY_FAULTS: readonly Fault[] = [
  ...NO_ANSWERS.map(
    ([name, given]): Fault => ({
      name: `a 200 with ${name}`,
      scripts: [answer(given)],
      expected: failsOver(200),
    }),
  ),
  {
    name: "json that is cut",
    scripts: [
      wholeOrStream({
        whole: answerOutput(undefined, { framing: "until_close", cutAt: 60 }),
        stream: answerStream(cutJson),
      }),
    ],
    expected: byMode({ whole: failsOver(200), stream: breaks() }),
  },
  { name: "the other protocol", scripts: [inOtherProtocol], expected: failsOver(200) },
  {
    name: "a whole answer to a stream",
    modes: ["stream"],
    scripts: [answerJson(wholeOf)],
    expected: failsOver(200),
  },
  {
    name: "a whole answer without a finish",
    modes: ["whole"],
    scripts: [
      answerJson((request) =>
        JSON.parse(JSON.stringify(wholeOf(request)).replace(/"(stop|end_turn)"/, "null")),
      ),
    ],
    expected: failsOver(200),
  },
  { name: "good gzip", scripts: [answerOutput(undefined, { gzip: true })], expected: answers() },
  {
    name: "headers of 200 kilobytes",
    scripts: [answerOutput(undefined, { headers: { "x-padding": "p".repeat(200_000) } })],
    expected: answers(),
  },
  { name: "a byte at a time", scripts: [answerOutput(undefined, { pieces: [1] })], expected: answers() },
  {
    name: "a body until the close",
    scripts: [answerOutput(undefined, { framing: "until_close" })],
    expected: answers(),
  },
];

export const ENDLESS_BODY: Fault = {
  name: "a body without end",
  scripts: [wholeOrStream({ whole: withoutEnd(" "), stream: withoutEnd(":") })],
  isCut: true,
  // No other route would give a shorter answer.
  expected: byMode({ whole: failsFinally(200, "answer_too_large"), stream: failsOver(200) }),
};

function wholeOf({ protocol }: ScriptRequest): object {
  return protocol === "openai" ? chatWhole(OUTPUT) : messagesWhole(OUTPUT);
}

function cutJson(request: ScriptRequest): string {
  return `${framesUntil(BREAK_WORD)(request)}data: {"id":"x","choices":[{"ind`;
}

function inOtherProtocol(request: ScriptRequest) {
  const { stream, protocol } = request;
  const others = protocol === "openai" ? "anthropic" : "openai";
  const lines = others === "openai" ? chatLines(request, OUTPUT) : messagesLines(OUTPUT);
  const script = stream
    ? answerStream(() => frame(others, lines))
    : answerJson(() => wholeOf({ ...request, protocol: others }));
  return script(request);
}

/** Sends 100 MiB of one byte. */
function withoutEnd(byte: string): Script {
  const bytes = Buffer.alloc(256 * 1024, byte);
  const chunk = Buffer.concat([Buffer.from("40000\r\n"), bytes, Buffer.from("\r\n")]);
  return function* (request): Generator<Step> {
    const contentType = request.stream ? "text/event-stream" : "application/json";
    yield { send: `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n` };
    for (let count = 0; count < 400; count++) yield { send: chunk };
    yield { leave: "hang" };
  };
}
