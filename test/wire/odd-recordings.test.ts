import { describe, expect, test } from "bun:test";
import type { Usage } from "../../src/domain/usage.ts";
import { hasOddRecordings, oddRecording } from "../support/recordings.ts";
import { billedOf, type Format, forEachClient, frameLines, usageOf } from "./usage-forms.ts";

/** The usage to be billed of each whole answer. */
const WHOLE: readonly (readonly [file: string, format: Format, usage: Usage])[] = [
  ["xai/xai-text", "chat", usageOf({ inputTokens: 10, cachedInputTokens: 2, outputTokens: 229 })],
  ["moonshotai/moonshotai-text", "chat", usageOf({ inputTokens: 9, outputTokens: 5 })],
  [
    "anthropic/anthropic-compaction.1",
    "messages",
    usageOf({ inputTokens: 60_385 + 682, outputTokens: 592 + 1_320 }),
  ],
  [
    "anthropic/anthropic-programmatic-tool-calling.1",
    "messages",
    usageOf({ inputTokens: 4_243, outputTokens: 229 }),
  ],
  [
    "anthropic/anthropic-code-execution-20250825.pptx-skill",
    "messages",
    usageOf({ inputTokens: 950_648, outputTokens: 13_856 }),
  ],
];

/** The usage to be billed of each streamed answer. */
const STREAMED: readonly (readonly [file: string, format: Format, usage: Usage])[] = [
  ["xai/xai-text", "chat", usageOf({ inputTokens: 1, cachedInputTokens: 11, outputTokens: 291 })],
  ["moonshotai/moonshotai-stream", "chat", usageOf({ inputTokens: 9, outputTokens: 12 })],
  [
    "anthropic/anthropic-compaction.1",
    "messages",
    usageOf({ inputTokens: 60_385 + 612, outputTokens: 522 + 2_819 }),
  ],
];

const linesOf = (file: string) =>
  oddRecording(`${file}.chunks.txt`)
    .split("\n")
    .filter((line) => line.trim() !== "");

describe.skipIf(!hasOddRecordings)("recorded answers with unusual reports of usage", () => {
  test.each(WHOLE)("%s is billed in full as a whole answer for every client", (file, format, usage) => {
    expect(billedOf(format, oddRecording(`${file}.json`), false)).toEqual(forEachClient(format, usage));
  });

  test.each(STREAMED)("%s is billed in full as a stream for every client", (file, format, usage) => {
    expect(billedOf(format, frameLines(format, linesOf(file)), true)).toEqual(forEachClient(format, usage));
  });

  test("the first and the last message of programmatic tool calling are billed in full when streamed", () => {
    const lines = linesOf("anthropic/anthropic-programmatic-tool-calling.1");
    const starts = lines.flatMap((line, position) =>
      line.includes('"type":"message_start"') ? [position] : [],
    );
    const first = lines.slice(0, starts[1]);
    const last = lines.slice(starts.at(-1));
    const billed = [first, last].map((each) => billedOf("messages", frameLines("messages", each), true));
    expect(billed).toEqual([
      forEachClient("messages", usageOf({ inputTokens: 3_369, outputTokens: 725 })),
      forEachClient("messages", usageOf({ inputTokens: 4_551, outputTokens: 197 })),
    ]);
  });
});
