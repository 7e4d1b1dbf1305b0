import { CHAT, MESSAGES } from "../../support/client.ts";
import type { ProtocolPair } from "../../support/protocol-pairs/protocol-pair.ts";

/** A chat client of Anthropic, and a messages client of OpenAI. */
export const TO_CLAUDE: ProtocolPair = {
  surface: CHAT,
  upstream: "anthropic",
  model: "claude",
  isTranslated: true,
};
export const TO_GPT: ProtocolPair = {
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
