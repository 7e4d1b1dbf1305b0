import type { Script, ScriptRequest } from "../../support/script.ts";
import { chatLines, chatWhole, frame, messagesLines, messagesWhole } from "../../support/scripted-answers.ts";
import { isObject, type Json } from "../../support/strict-json.ts";
import type { ExpectedCharge, Fault } from "./fault.ts";
import { answerJson, answerOutput, answerStream, OUTPUT, wholeOrStream } from "./fault-scripts.ts";
import { answers, COUNTED } from "./outcomes.ts";

const ZERO: ExpectedCharge = { source: "reported", input: 0, output: 0 };
/** The charge where a report lacks a total, or has one that cannot be counted. */
const UNCOUNTABLE: ExpectedCharge = { ...COUNTED, report: "uncountable" };
const UNREPORTED = { text: OUTPUT.text ?? "" };

/** Token counts that an upstream may report, and the resulting charge. */
const NUMBERS: readonly (readonly [name: string, input: unknown, output: unknown, charge: ExpectedCharge])[] =
  [
    ["zero", 0, 0, ZERO],
    ["negative input", -11, 9, { ...UNCOUNTABLE, output: 9 }],
    ["negative output", 11, -9, { ...UNCOUNTABLE, input: 11 }],
    // Limited to the context window, and to the output limit plus a tenth.
    ["absurd input", 700_000, 9, { source: "estimated", input: 200_000, output: 9, report: "above_bound" }],
    ["absurd output", 11, 5_000, { source: "estimated", input: 11, output: 1_100, report: "above_bound" }],
    ["astronomic", 1e300, 1e300, UNCOUNTABLE],
    ["a fraction", 11, 9.5, { ...UNCOUNTABLE, input: 11 }],
  ];

/** Totals that are no numbers. */
const NO_NUMBERS: readonly (readonly [name: string, input: unknown, output: unknown])[] = [
  ["text", "11", "9"],
  ["null", null, null],
  ["lists", [11], [9]],
];

/** Usage reports. The answer is good in every case. */
export const USAGE_FAULTS: readonly Fault[] = [
  { name: "usage missing", scripts: [answerOutput(UNREPORTED)], expected: answers({}, COUNTED) },
  ...NUMBERS.map(
    ([name, input, output, charge]): Fault => ({
      name: `usage ${name}`,
      scripts: [reports(input, output)],
      expected: answers({}, charge),
    }),
  ),
  ...NO_NUMBERS.map(
    ([name, input, output]): Fault => ({
      name: `usage ${name}`,
      scripts: [reports(input, output)],
      // A stream of messages begins with a report, which lacks its totals then.
      expected: ({ surface, mode }) =>
        answers({}, surface.name === "messages" && mode === "stream" ? UNCOUNTABLE : COUNTED),
    }),
  ),
  {
    name: "usage that is no object",
    scripts: [edits((json) => (isObject(json.usage) ? { ...json, usage: "much" } : withStart(json, "much")))],
    expected: answers({}, COUNTED),
  },
  {
    name: "usage on every chunk",
    modes: ["stream"],
    surfaces: ["chat"],
    scripts: [
      editsLines((lines) => lines.map((line, at) => ({ ...line, usage: chatUsage(11, Math.min(at, 9)) }))),
    ],
    expected: answers({}, { source: "reported", input: 11, output: 6 }),
  },
  {
    name: "usage on the finish chunk",
    modes: ["stream"],
    surfaces: ["chat"],
    scripts: [
      editsLines((lines) =>
        lines
          .slice(0, -1)
          .map((line, at) => (at === lines.length - 2 ? { ...line, usage: chatUsage(11, 9) } : line)),
      ),
    ],
    expected: answers(),
  },
  {
    name: "usage twice",
    modes: ["stream"],
    scripts: [
      editsLines((lines) => lines.flatMap((line) => (isObject(line.usage) ? [lower(line), line] : [line]))),
    ],
    expected: answers(),
  },
  {
    name: "usage of the start only",
    modes: ["stream"],
    surfaces: ["messages"],
    scripts: [editsLines((lines) => lines.map(({ usage: _usage, ...line }) => line))],
    // The first event always reports one output token, which does not count as a report.
    expected: answers({}, { ...UNCOUNTABLE, input: 11 }),
  },
  {
    name: "usage that is text at the end",
    modes: ["stream"],
    surfaces: ["messages"],
    scripts: [
      editsLines((lines) =>
        lines.map((line) => (isObject(line.usage) ? { ...line, usage: { output_tokens: "9" } } : line)),
      ),
    ],
    expected: answers({}, { ...UNCOUNTABLE, input: 11 }),
  },
];

function chatUsage(input: unknown, output: unknown): object {
  return { prompt_tokens: input, completion_tokens: output };
}

/** Reports these numbers wherever the provider reports usage. */
function reports(input: unknown, output: unknown): Script {
  const usage = { ...chatUsage(input, output), input_tokens: input, output_tokens: output };
  return edits((json) => (isObject(json.usage) ? { ...json, usage } : withStart(json, usage)));
}

/** Sets the usage inside Anthropic's first event. */
function withStart(json: Json, usage: unknown): Json {
  return isObject(json.message) ? { ...json, message: { ...json.message, usage } } : json;
}

/** The line with a lower usage and without its stop reason, as sent a little earlier. */
function lower(line: Json): Json {
  const { delta } = line;
  const usage = { ...chatUsage(11, 5), input_tokens: 11, output_tokens: 5 };
  return { ...line, usage, ...(isObject(delta) && { delta: { ...delta, stop_reason: null } }) };
}

function edits(edit: (json: Json) => unknown): Script {
  return wholeOrStream({
    whole: answerJson(({ protocol }) =>
      edit({ ...(protocol === "openai" ? chatWhole(OUTPUT) : messagesWhole(OUTPUT)) }),
    ),
    stream: editsLines((lines) => lines.map(edit)),
  });
}

function editsLines(edit: (lines: Json[]) => unknown[]): Script {
  return answerStream((request: ScriptRequest) => {
    const lines = request.protocol === "openai" ? chatLines(request, OUTPUT) : messagesLines(OUTPUT);
    const edited = edit(lines.map((line) => JSON.parse(line)));
    return frame(
      request.protocol,
      edited.map((line) => JSON.stringify(line)),
    );
  });
}
