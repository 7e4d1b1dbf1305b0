import { expect } from "bun:test";
import type { Fault } from "./fault.ts";
import { answerStream } from "./fault-scripts.ts";
import { answers } from "./outcomes.ts";

const CHUNK = { id: "chatcmpl-x", object: "chat.completion.chunk", created: 1, model: "x" };
const USAGE = { prompt_tokens: 11, completion_tokens: 9 };

/** Fragments of tool calls from hosts of open models, one chunk each. */
const FRAGMENTS: readonly (readonly [name: string, fragments: readonly object[], ids: readonly unknown[]])[] =
  [
    [
      "tool calls without an index",
      [
        { id: "a", type: "function", function: { name: "look", arguments: '{"at":' } },
        { function: { arguments: '"sky"}' } },
        { id: "b", type: "function", function: { name: "look", arguments: '{"at":"sky"}' } },
      ],
      ["a", "b"],
    ],
    [
      "tool calls without an id",
      [
        { index: 0, function: { name: "look", arguments: '{"at":"sky"}' } },
        { index: 1, function: { name: "look", arguments: '{"at":' } },
        { index: 1, function: { arguments: '"sky"}' } },
      ],
      [/^call_/, /^call_/],
    ],
    [
      "tool calls that all have index 0",
      [
        { index: 0, id: "a", function: { name: "look", arguments: '{"at":"sky"}' } },
        { index: 0, id: "b", function: { name: "look", arguments: '{"at":"sky"}' } },
      ],
      ["a", "b"],
    ],
    [
      "tool calls numbered from 1",
      [{ index: 1, id: "a", type: "function", function: { name: "look", arguments: '{"at":"sky"}' } }],
      ["a"],
    ],
    [
      "tool calls whose arguments are json",
      [{ index: 0, id: "a", type: "function", function: { name: "look", arguments: { at: "sky" } } }],
      ["a"],
    ],
  ];

/** Deltas that clients could not merge unchanged. */
export const TOOL_FAULTS: readonly Fault[] = FRAGMENTS.map(([name, fragments, ids]) => ({
  name,
  modes: ["stream"],
  surfaces: ["chat"],
  scripts: [answerStream(() => eventsOf(fragments))],
  expected: answers({ text: "", tools: ids.map(toolOf), finish: "tool_calls" }),
}));

function toolOf(id: unknown) {
  return {
    id: id instanceof RegExp ? expect.stringMatching(id) : String(id),
    name: "look",
    arguments: '{"at":"sky"}',
  };
}

/** Many hosts send the finish `stop` after tool calls. */
function eventsOf(fragments: readonly object[]): string {
  const chunk = (delta: object, finish: string | null, more: object = {}) =>
    `data: ${JSON.stringify({ ...CHUNK, choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
  const calls = fragments.map((fragment) => chunk({ tool_calls: [fragment] }, null));
  return `${calls.join("")}${chunk({}, "stop", { usage: USAGE })}data: [DONE]\n\n`;
}
