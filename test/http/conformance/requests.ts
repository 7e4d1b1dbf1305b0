import { CHAT, MESSAGES } from "../../support/client.ts";
import type { FormatPair } from "../../support/format-pairs/format-pair.ts";

/** A chat client of Anthropic, and a messages client of OpenAI. */
export const TO_CLAUDE: FormatPair = {
  surface: CHAT,
  upstream: "anthropic",
  model: "claude",
  isTranslated: true,
};
export const TO_GPT: FormatPair = {
  surface: MESSAGES,
  upstream: "openai",
  model: "gpt",
  isTranslated: true,
};

export type Body = Readonly<Record<string, unknown>>;

export const user = (content: unknown) => ({ role: "user", content });
export const call = (id: string, text: string) => ({
  id,
  type: "function",
  function: { name: "look_up", arguments: text },
});
export const result = (id: string) => ({ role: "tool", tool_call_id: id, content: `result of ${id}` });
export const chatTool = {
  type: "function",
  function: { name: "look_up", parameters: { type: "object", properties: {} } },
};
export const image = (url: string) => user([{ type: "image_url", image_url: { url } }]);

/** A request of Claude Code 2.1 to a model that it does not know. */
export function claudeCode(): Body {
  const tools = Array.from({ length: 14 }, (_, index) => ({
    name: `Tool${index}`,
    description: "d".repeat(3_000),
    input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    ...(index > 9 && { defer_loading: true }),
  }));
  return {
    stream: true,
    max_tokens: 4_000,
    system: [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.329; cch=abcde;" },
      { type: "text", text: "You are Claude Code.", cache_control: { type: "ephemeral" } },
      { type: "text", text: "p".repeat(12_000), cache_control: { type: "ephemeral" } },
    ],
    messages: [
      user([{ type: "text", text: "Read the file." }]),
      { role: "system", content: "The environment: a shell." },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "", signature: "c2lnbmF0dXJl" },
          { type: "tool_use", id: "toolu_1", name: "Tool1", input: { path: "/a" } },
        ],
      },
      user([
        { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "result of it" }] },
        { type: "text", text: "Go on.", cache_control: { type: "ephemeral" } },
      ]),
    ],
    tools,
    thinking: { type: "adaptive", display: "omitted" },
    output_config: { effort: "medium" },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    metadata: { user_id: JSON.stringify({ device_id: "d".repeat(64), session_id: "s".repeat(36) }) },
  };
}
