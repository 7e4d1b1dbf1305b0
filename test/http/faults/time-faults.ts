import { type Script, type ScriptRequest, type Step, silence } from "../../support/script.ts";
import { EVENT_STREAM } from "../../support/scripted-answers.ts";
import type { Fault } from "./fault.ts";
import { answerOutput, answerStream, BREAK_WORD, framesUntil } from "./fault-scripts.ts";
import { answers, breaks, byMode, failsFinally, failsOver } from "./outcomes.ts";

/** Long enough for a busy machine, and short enough for a test. */
const SHORT_MS = 2_500;
const LONGER_MS = 3_300;
/** Far below every other limit. */
const TRICKLE_MS = 20;

/** Answers that exceed one of the timeouts, and one that is only slow. */
export const TIME_FAULTS: readonly Fault[] = [
  {
    name: "handshake never answered",
    scripts: [],
    at: ({ mute }) => mute,
    timeouts: { connectMs: SHORT_MS },
    expected: failsOver(0, "upstream_unavailable", SHORT_MS),
  },
  {
    name: "no answer",
    scripts: [silence],
    timeouts: { firstOutputMs: SHORT_MS, totalMs: LONGER_MS },
    isCut: true,
    // A whole answer has no first output, so that only its total time is limited.
    expected: byMode({
      whole: failsOver(0, "upstream_total_timeout", LONGER_MS),
      stream: failsOver(0, "upstream_timeout", SHORT_MS),
    }),
  },
  {
    name: "no answer in all the time there is",
    scripts: [silence],
    timeouts: { totalMs: SHORT_MS },
    sharesTimeouts: true,
    isCut: true,
    expected: failsFinally(0, "upstream_total_timeout", SHORT_MS),
  },
  {
    name: "silence behind the headers",
    scripts: [answerOutput({}, { claimedLength: 500, framing: "length", cutAt: 0, end: "hang" })],
    timeouts: { firstOutputMs: LONGER_MS, idleMs: SHORT_MS },
    isCut: true,
    expected: byMode({
      whole: failsOver(200, "upstream_timeout", SHORT_MS),
      stream: failsOver(200, "upstream_timeout", LONGER_MS),
    }),
  },
  {
    name: "silence within a whole body",
    modes: ["whole"],
    scripts: [answerOutput(undefined, { framing: "chunked", cutAt: 40, end: "hang" })],
    timeouts: { idleMs: SHORT_MS },
    isCut: true,
    expected: failsOver(200, "upstream_timeout", SHORT_MS),
  },
  {
    name: "silence after output",
    modes: ["stream"],
    scripts: [answerStream(framesUntil(BREAK_WORD), { end: "hang" })],
    timeouts: { idleMs: SHORT_MS },
    isCut: true,
    expected: breaks({ logged: "upstream_timeout", takesMs: SHORT_MS }),
  },
  {
    name: "comments for ever before output",
    modes: ["stream"],
    scripts: [
      trickles(
        () => "",
        () => ": still there\n\n",
      ),
    ],
    timeouts: { firstOutputMs: SHORT_MS },
    isCut: true,
    expected: failsOver(200, "upstream_timeout", SHORT_MS),
  },
  {
    name: "events for ever before output",
    modes: ["stream"],
    scripts: [trickles(framesUntil(undefined), nothing)],
    timeouts: { firstOutputMs: SHORT_MS },
    isCut: true,
    expected: failsOver(200, "upstream_timeout", SHORT_MS),
  },
  {
    name: "events for ever after output",
    modes: ["stream"],
    scripts: [trickles(framesUntil(BREAK_WORD), nothing)],
    timeouts: { totalMs: LONGER_MS },
    isCut: true,
    expected: breaks({ logged: "upstream_total_timeout", takesMs: LONGER_MS }),
  },
  {
    name: "spaces for ever in a whole body",
    modes: ["whole"],
    scripts: [
      trickles(
        () => "{",
        () => " ",
      ),
    ],
    timeouts: { totalMs: LONGER_MS },
    isCut: true,
    expected: failsOver(200, "upstream_total_timeout", LONGER_MS),
  },
  {
    name: "a slow answer",
    scripts: [answerOutput(undefined, { delayMs: 50, pieces: [200], pauseMs: 10 })],
    timeouts: { firstOutputMs: 10_000, idleMs: 5_000 },
    expected: answers(),
  },
];

/** An event without output. */
function nothing({ protocol }: ScriptRequest): string {
  if (protocol === "anthropic") return 'event: ping\ndata: {"type":"ping"}\n\n';
  return 'data: {"id":"x","choices":[{"index":0,"delta":{"content":""},"finish_reason":null}],"model":"x"}\n\n';
}

/** Begins, and then sends a piece again and again. */
function trickles(
  begin: (request: ScriptRequest) => string,
  again: (request: ScriptRequest) => string,
): Script {
  return function* (request): Generator<Step> {
    const type = request.stream ? EVENT_STREAM["content-type"] : "application/json";
    yield { send: `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n${begin(request)}` };
    for (;;) {
      yield { waitMs: TRICKLE_MS };
      yield { send: again(request) };
    }
  };
}
