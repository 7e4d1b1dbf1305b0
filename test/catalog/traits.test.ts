import { describe, expect, test } from "bun:test";
import { readTraits } from "../../src/catalog/catalog.ts";

describe("readTraits", () => {
  test.each([
    ["claude-3-5-sonnet-20241022", "none", true],
    ["claude-3-haiku-20240307", "none", true],
    ["claude-3-7-sonnet-20250219", "budget", true],
    ["claude-sonnet-4-20250514", "budget", true],
    ["claude-opus-4-1-20250805", "budget", true],
    ["claude-sonnet-4-5-20250929", "budget", true],
    ["anthropic.claude-haiku-4-5-20251001-v1:0", "budget", true],
    ["claude-opus-4-6", "adaptive", true],
    ["claude-opus-4-7", "adaptive", false],
    ["claude-sonnet-5", "adaptive", false],
    ["claude-opus-4.6", "adaptive", true],
    ["claude-opus-4.7", "adaptive", false],
    ["claude-opus-4-10", "adaptive", false],
    ["claude-opus-4-6-20260105", "adaptive", true],
    ["anthropic/claude-3.7-sonnet:thinking", "budget", true],
    ["claude-3-7-sonnet-latest", "budget", true],
    ["claude-haiku-4-5-latest", "budget", true],
    ["anthropic/claude-sonnet-4.5", "budget", true],
    ["anthropic/claude-opus-4.1:beta", "budget", true],
    ["claude-sonnet-4", "budget", true],
    ["claude-sonnet-4@20250514", "budget", true],
    ["anthropic/claude-3.5-haiku", "none", true],
    ["anthropic.claude-v2:1", "none", true],
    ["gpt-4.1-mini-2025-04-14", "none", true],
    ["gpt-5-mini", "effort", false],
    ["gpt-5.1-codex", "effort", false],
    ["openai/gpt-5.2", "effort", false],
    ["gpt-5-chat-latest", "none", true],
    ["o3-mini", "effort", false],
    ["openai/gpt-oss-120b", "effort", true],
    ["deepseek-chat", "none", true],
    ["llama-3.3-70b-versatile", "none", true],
  ] as const)("%s reasons by %s, and takes a temperature: %p", (name, reasoning, sampling) => {
    expect(readTraits(name, {})).toEqual({ reasoning, sampling });
  });

  test("what the operator says stands", () => {
    expect(readTraits("gpt-5", { reasoning: "none", sampling: true })).toEqual({
      reasoning: "none",
      sampling: true,
    });
    expect(readTraits("mine", { reasoning: "effort" })).toEqual({ reasoning: "effort", sampling: true });
  });
});
