import { describe, expect, test } from "bun:test";
import {
  allowBodyBetas,
  allowHeaderBetas,
  namedBetas,
  readBodyBetas,
  windowOfBetas,
} from "../../../src/wire/anthropic-messages/betas.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/format.ts";
import { editMembers } from "../../../src/wire/json/edit.ts";

/** The `anthropic-beta` header that Claude Code sends with every request. */
const AGENT =
  "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,mid-conversation-tool-changes-2026-07-01,thinking-token-count-2026-05-13,advanced-tool-use-2025-11-20,effort-2025-11-24";

describe("allowHeaderBetas", () => {
  test.each([
    ["the header of a coding agent passes unchanged", AGENT, [], AGENT],
    ["odd spaces stay when nothing is dropped", " a ,, b", [], " a ,, b"],
    ["an unknown beta passes", "new-thing-2027-01-01", [], "new-thing-2027-01-01"],
    [
      "a beta for longer output passes, because the output limit is sent",
      "output-128k-2025-02-19",
      [],
      "output-128k-2025-02-19",
    ],
    [
      "a beta for the stop reason of a full window passes",
      "model-context-window-exceeded-2025-08-26",
      [],
      "model-context-window-exceeded-2025-08-26",
    ],
    ["a larger context window is dropped", "context-1m-2025-08-07", [], ""],
    ["a larger context window is dropped from a list", `context-1m-2025-08-07, ${AGENT}`, [], AGENT],
    ["a later version of the context window beta is dropped", "a,context-2m-2027-01-01", [], "a"],
    ["a priced beta in capitals is dropped", "a,Context-1M-2025-08-07", [], "a"],
    ["a priced beta behind spaces and semicolons is dropped", "a context-1m-2025-08-07;b", [], "a,b"],
    ["a priced beta in quotes and brackets is dropped", '["context-1m-2025-08-07"],a', [], "a"],
    ["a beta for faster answers is dropped", "fast-mode-2026-02-01,a", [], "a"],
    ["a beta for an advisor model is dropped", "advisor-tool-2026-03-01,a", [], "a"],
    ["a beta for a fallback model is dropped", "server-side-fallback-2026-07-01,a", [], "a"],
    ["an allowed beta passes", "context-1m-2025-08-07", ["context-1m-2025-08-07"], "context-1m-2025-08-07"],
    [
      "a beta with an allowed prefix passes",
      "context-1m-2025-08-07,fast-mode-2026-02-01",
      ["context-1m-*"],
      "context-1m-2025-08-07",
    ],
    ["a prefix without a star allows nothing", "context-1m-2025-08-07", ["context-1m"], ""],
    [
      "a single star allows every beta",
      "context-1m-2025-08-07,fast-mode-2026-02-01",
      ["*"],
      "context-1m-2025-08-07,fast-mode-2026-02-01",
    ],
  ])("%s", (_name, header, allowed, sent) => expect(allowHeaderBetas(header, allowed)).toBe(sent));
});

describe("betas in a body", () => {
  const edit = (betas: string, allowed: readonly string[] = []) =>
    editMembers(`{"a":1,"betas":${betas},"z":2}`, allowBodyBetas(allowed));

  test.each([
    ["an ordinary list passes byte for byte", '[ "a" , "b"]', [], '{"a":1,"betas":[ "a" , "b"],"z":2}'],
    ["a priced beta is dropped", '["a","context-1m-2025-08-07"]', [], '{"a":1,"betas":["a"],"z":2}'],
    [
      "a priced beta with an escaped letter is dropped",
      '["cont\\u0065xt-1m-2025-08-07"]',
      [],
      '{"a":1,"betas":[],"z":2}',
    ],
    [
      "an allowed beta stays",
      '["context-1m-2025-08-07"]',
      ["context-*"],
      '{"a":1,"betas":["context-1m-2025-08-07"],"z":2}',
    ],
    ["a string is split like a header", '"a,context-1m-2025-08-07"', [], '{"a":1,"betas":["a"],"z":2}'],
    ["a nested list, which no host accepts, is dropped", '[["context-1m-2025-08-07"]]', [], '{"a":1,"z":2}'],
    ["an object is dropped", '{"0":"context-1m-2025-08-07"}', [], '{"a":1,"z":2}'],
  ])("%s", (_name, betas, allowed, sent) => expect(edit(betas, allowed)).toBe(sent));

  test("are read from both fields, and an ordinary body has none", () => {
    expect(readBodyBetas({ betas: ["a"], anthropic_beta: "b, c" })).toEqual(["a", "b", "c"]);
    expect(readBodyBetas({ betas: null })).toBeUndefined();
    expect(readBodyBetas({})).toBeUndefined();
  });

  test("are sent once, without the priced ones, when the field is repeated", () => {
    const text = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"x"}],"betas":["a"],"betas":["context-1m-2025-08-07"]}`;
    const request = anthropicMessages.parseRequest(text);
    const options = { model: "m", outputTokensMax: 5, outputLimitField: undefined };
    const sent = anthropicMessages.printUpstreamRequest(request, options);
    expect(sent.match(/betas/g)).toHaveLength(1);
    expect(sent).not.toContain("context-1m");
  });
});

test("the betas of a request are those of its header and of its body", () => {
  expect(namedBetas(undefined, undefined)).toEqual([]);
  expect(namedBetas("a, b", undefined)).toEqual(["a", "b"]);
  expect(namedBetas("a", ["b"])).toEqual(["a", "b"]);
  expect(namedBetas(undefined, ["b"])).toEqual(["b"]);
});

test.each([
  [["context-1m-2025-08-07"], ["context-1m-*"], 1_000_000],
  [["context-500k-2027-01-01", "a"], ["context-*"], 500_000],
  [["context-500k-2027-01-01", "context-2m-2027-01-01"], ["context-*"], 2_000_000],
  [["context-1m-2025-08-07"], [], 0],
  [["context-management-2025-06-27", "fast-mode-2026-02-01"], ["*"], 0],
])("betas %j with %j allowed open a window of %p tokens", (betas, allowed, window) => {
  expect(windowOfBetas(betas, allowed)).toBe(window);
});
