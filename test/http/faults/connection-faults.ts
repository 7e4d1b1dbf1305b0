import { garbage, resetAtOnce, type Script, type ScriptRequest } from "../../support/script.ts";
import type { Fault } from "./fault.ts";
import {
  answerOutput,
  answerStream,
  BREAK_WORD,
  framesUntil,
  secrets,
  wholeOrStream,
} from "./fault-scripts.ts";
import { answers, breaks, byMode, failsOver } from "./outcomes.ts";

const closeAtOnce: Script = () => [{ leave: "close" }];

/** The head of an answer, followed by the end of the connection. */
const headThen = (end: "reset" | "close"): Script =>
  answerOutput({}, { claimedLength: 500, framing: "length", cutAt: 0, end });

/** Faults of the connection: before it is open, before the answer, and in the middle of the answer. */
export const CONNECTION_FAULTS: readonly Fault[] = [
  { name: "connection refused", scripts: [], at: ({ refused }) => refused, expected: failsOver(0) },
  { name: "host not found", scripts: [], at: ({ nowhere }) => nowhere, expected: failsOver(0) },
  { name: "reset at once", scripts: [resetAtOnce], expected: failsOver(0) },
  { name: "close at once", scripts: [closeAtOnce], expected: failsOver(0) },
  { name: "half a status line", scripts: [garbage("HTTP/1.1 2")], expected: failsOver(0) },
  {
    name: "no http",
    scripts: [garbage(`\x16\x03\x01 ${secrets.next("banner")}\r\n`)],
    expected: failsOver(0),
  },
  {
    name: "a status that is no number",
    scripts: [garbage(`HTTP/1.1 ${secrets.next("status")} OK\r\n\r\n`)],
    expected: failsOver(0),
  },
  { name: "reset behind the headers", scripts: [headThen("reset")], expected: failsOver(200) },
  { name: "close behind the headers", scripts: [headThen("close")], expected: failsOver(200) },
  {
    name: "reset within a body",
    scripts: [breaksBy("reset")],
    expected: byMode({ whole: failsOver(200), stream: breaks() }),
  },
  {
    name: "close within a body",
    scripts: [breaksBy("close")],
    expected: byMode({ whole: failsOver(200), stream: breaks() }),
  },
  {
    name: "a length too long",
    scripts: [answerOutput(undefined, { framing: "length", claimedLength: 9_999, end: "close" })],
    // HTTP calls a body incomplete that is shorter than its length. A stream has an end of its own.
    expected: byMode({ whole: failsOver(200), stream: answers() }),
  },
  {
    name: "a length too short",
    scripts: [saysTooShortLength],
    expected: byMode({ whole: failsOver(200), stream: breaks() }),
  },
];

function breaksBy(end: "reset" | "close"): Script {
  return wholeOrStream({
    whole: answerOutput(undefined, { framing: "chunked", cutAt: 40, end }),
    stream: answerStream(framesUntil(BREAK_WORD), { end }),
  });
}

function saysTooShortLength(request: ScriptRequest) {
  const claimedLength = request.stream ? Buffer.byteLength(framesUntil(BREAK_WORD)(request)) : 40;
  return answerOutput(undefined, { framing: "length", claimedLength })(request);
}
