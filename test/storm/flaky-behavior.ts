import {
  type Answer,
  answer,
  garbage,
  resetAtOnce,
  type Script,
  type Step,
  silence,
} from "../support/script.ts";
import { answerWith, EVENT_STREAM } from "../support/scripted-answers.ts";
import {
  createDraw,
  drawInteger,
  drawOne,
  drawWeighted,
  type RandomSource,
} from "../support/seeded-random.ts";
import type { StormConditions, UpstreamName } from "./plan.ts";
import { taggedOutput } from "./tagged-output.ts";

/** The behaviour of an upstream in one call. */
interface FlakyBehavior {
  readonly name: string;
  readonly weight: number;
  /** Whether the answer is complete, so that its client pays for it. */
  readonly isAnswer: boolean;
  script(given: Given): Script;
}

interface Given {
  readonly modelOutput: ReturnType<typeof taggedOutput>;
  readonly draw: RandomSource;
}

/**
 * Draws the behaviour of an upstream for a request. Depends only on the seed, the upstream and the number.
 */
export function behaviorOf(conditions: StormConditions, upstream: UpstreamName, number: number) {
  const draw = createDraw(conditions.seed, upstream, number);
  const behavior = drawWeighted(draw, draw() < conditions.goodAnswers ? GOOD : BAD);
  const script = behavior.script({ modelOutput: taggedOutput(upstream, number), draw });
  return { name: behavior.name, isAnswer: behavior.isAnswer, script };
}

function good(name: string, weight: number, how: (given: Given) => Omit<Answer, "body">): FlakyBehavior {
  return { name, weight, isAnswer: true, script: (given) => answerWith(given.modelOutput, how(given)) };
}

const GOOD: readonly FlakyBehavior[] = [
  good("at once", 10, () => ({})),
  good("in pieces", 6, ({ draw }) => ({ pieces: [drawInteger(draw, 7, 300)] })),
  good("late", 3, ({ draw }) => ({ delayMs: drawInteger(draw, 1, 60) })),
  good("trickling", 2, ({ draw }) => ({ pieces: [400], pauseMs: drawInteger(draw, 1, 12) })),
  good("until the close", 1, () => ({ framing: "until_close" })),
  good("compressed", 1, () => ({ gzip: true })),
  {
    ...good("without usage", 1, () => ({})),
    script: ({ modelOutput: { text } }) => answerWith({ text }),
  },
  {
    ...good("with a usage that cannot be", 1, () => ({})),
    script: ({ modelOutput: { text }, draw }) =>
      answerWith({ text, usage: { input: 20, output: drawOne(draw, IMPOSSIBLE_COUNTS) } }),
  },
];

const IMPOSSIBLE_COUNTS = [-1, 0.5, 1e15];

function bad(name: string, weight: number, script: (given: Given) => Script): FlakyBehavior {
  return { name, weight, isAnswer: false, script };
}

const BAD: readonly FlakyBehavior[] = [
  bad("reset at once", 3, () => resetAtOnce),
  bad("closed at once", 2, () => garbage("")),
  bad("reset behind the headers", 2, ({ modelOutput }) =>
    answerWith(modelOutput, { cutAt: 0, end: "reset" }),
  ),
  bad("reset midway", 3, (given) => cut(given, { end: "reset" })),
  bad("closed midway", 3, (given) => cut(given, { end: "close" })),
  bad("silent", 0.5, () => silence),
  bad("silent behind the headers", 0.5, ({ modelOutput }) =>
    answerWith(modelOutput, { cutAt: 0, end: "hang" }),
  ),
  bad("silent midway", 1, (given) => cut(given, { end: "hang" })),
  bad("a status", 8, ({ draw }) => refusal(draw)),
  bad("no HTTP", 1, ({ draw }) =>
    garbage(drawOne(draw, ["\x16\x03\x01\x02", "HTTP/1.1 2", "SSH-2.0-x\r\n"])),
  ),
  bad("a page", 1, () => answer({ headers: { "content-type": "text/html" }, body: "<h1>It works</h1>" })),
  bad("nothing", 1, () => answer({ body: "" })),
  bad("an error with 200", 1, () => answer({ body: '{"error":{"message":"overloaded"}}' })),
  bad("another host", 1, () => answer({ status: 307, headers: { location: ELSEWHERE }, body: "" })),
  bad("a length that lies", 1, (given) => cut(given, { ...WRONG_LENGTH, end: "close" })),
  bad("no end, slowly", 0.5, () => endless(": still here\n\n", { times: 10_000, pauseMs: 20 })),
  bad("no end, fast", 0.05, () => endless(PADDING, { times: 10_000, pauseMs: 0 })),
  { ...bad("empty", 1, ({ modelOutput: { usage } }) => answerWith({ usage })), isAnswer: true },
  { ...bad("empty without usage", 1, () => answerWith({})), isAnswer: true },
];

const ELSEWHERE = "http://127.0.0.1:9/v1/elsewhere";
const WRONG_LENGTH = { framing: "length", claimedLength: 1_000_000 } as const;
const PADDING = `: ${"p".repeat(64 * 1024)}\n\n`;

/** Number of bytes of the shortest answer before its end. */
const BEFORE_END = { whole: 150, stream: 900 };

function cut({ modelOutput, draw }: Given, how: Omit<Answer, "body">): Script {
  const share = draw();
  const pieces = [drawInteger(draw, 50, 500)];
  return (request) => {
    const most = request.stream ? BEFORE_END.stream : BEFORE_END.whole;
    return answerWith(modelOutput, { cutAt: 1 + Math.floor(share * most), pieces, ...how })(request);
  };
}

const STATUSES = [400, 401, 403, 404, 408, 409, 413, 422, 425, 429, 429, 429, 500, 500, 502, 503, 503, 529];
const RETRY_AFTER = [null, null, "1", "0", "30", "Wed, 21 Oct 2099 07:28:00 GMT", "soon", "-1"];

function refusal(draw: RandomSource): Script {
  const retryAfter = drawOne<string | null>(draw, RETRY_AFTER);
  return answer({
    status: drawOne(draw, STATUSES),
    headers: retryAfter === null ? {} : { "retry-after": retryAfter },
    body: '{"error":{"message":"no","type":"t"}}',
  });
}

/** A stream that does not end until the gateway disconnects. */
function endless(piece: string, { times, pauseMs }: { times: number; pauseMs: number }): Script {
  const headers = Object.entries(EVENT_STREAM).map(([name, value]) => `${name}: ${value}\r\n`);
  return function* (): Generator<Step> {
    yield { send: `HTTP/1.1 200 Scripted\r\n${headers.join("")}connection: close\r\n\r\n` };
    for (let time = 0; time < times; time++) {
      yield { send: piece };
      if (pauseMs > 0) yield { waitMs: pauseMs };
    }
    yield { leave: "close" };
  };
}
