import type { Fault } from "./fault.ts";
import { answerStream, framesOfOutput, secrets } from "./fault-scripts.ts";
import { answers } from "./outcomes.ts";

const WORLDLY = "één øre 日本語 🧮 ten";

/** Valid variants of an event stream. */
const FORMS: readonly (readonly [name: string, write: (stream: string) => string])[] = [
  ["lines that end in crlf", (stream) => stream.replaceAll("\n", "\r\n")],
  ["lines that end in cr", (stream) => stream.replaceAll("\n", "\r")],
  ["a byte order mark", (stream) => `\uFEFF${stream}`],
  ["comments between events", (stream) => stream.replaceAll("\n\n", `\n\n: ${secrets.next("comment")}\n\n`)],
  ["comments within events", (stream) => stream.replaceAll("data: ", `: ${secrets.next("inside")}\ndata: `)],
  ["ids and retries", (stream) => stream.replaceAll("data: ", `id: ${secrets.next("id")}\nretry: 1\ndata: `)],
  ["no space behind the colon", (stream) => stream.replaceAll(/^(data|event): /gm, "$1:")],
  ["no event names", (stream) => stream.replaceAll(/^event: .*\n/gm, "")],
  ["more empty lines than needed", (stream) => stream.replaceAll("\n\n", "\n\n\n\n")],
  [
    "data in several lines",
    (stream) => stream.replaceAll(/^data: (\{.*\})$/gm, (_line, json) => inLines(json)),
  ],
  ["no empty line at the end", (stream) => stream.slice(0, -1)],
];

/** Streams that look unusual and are valid. */
export const SSE_FAULTS: readonly Fault[] = [
  ...FORMS.flatMap(([name, write]) =>
    // In large pieces, and in pieces that end in the middle of lines.
    [[100_000], [7]].map(
      (pieces): Fault => ({
        name: pieces[0] === 7 ? `${name} in small pieces` : name,
        modes: ["stream"],
        scripts: [answerStream((request) => write(framesOfOutput(request)), { pieces })],
        expected: answers(),
      }),
    ),
  ),
  {
    name: "characters cut in two",
    modes: ["stream"],
    scripts: [
      answerStream((request) => framesOfOutput(request, { text: WORLDLY, usage: { input: 11, output: 9 } }), {
        pieces: [1],
      }),
    ],
    expected: answers({ text: WORLDLY }),
  },
];

function inLines(json: string): string {
  const lines = JSON.stringify(JSON.parse(json), null, 1).split("\n");
  return lines.map((line) => `data: ${line}`).join("\n");
}
