import type { ProtocolPair } from "../../support/protocol-pairs/protocol-pair.ts";
import { type Body, image, TO_CLAUDE, TO_GPT, user } from "./asks.ts";

/** What no upstream of the model understands, and the field that is named. */
export const REFUSED: readonly (readonly [name: string, quadrant: ProtocolPair, body: Body, path: string])[] =
  [
    [
      "case 65: a drawing",
      TO_CLAUDE,
      { messages: [image("data:image/svg+xml;base64,aGVsbG8=")] },
      "messages[0].content[0]",
    ],
    ["case 66: two answers", TO_CLAUDE, { n: 2 }, "n"],
    ["case 66: probabilities", TO_CLAUDE, { logprobs: true }, "logprobs"],
    ["a search of the web", TO_CLAUDE, { web_search_options: {} }, "web_search_options"],
    [
      "a file that only OpenAI has",
      TO_CLAUDE,
      { messages: [user([{ type: "file", file: { file_id: "file-1" } }])] },
      "messages[0].content[0]",
    ],
    [
      "an image that only Anthropic has",
      TO_GPT,
      { messages: [user([{ type: "image", source: { type: "file", file_id: "file_1" } }])] },
      "messages[0].content[0]",
    ],
    [
      "servers of tools",
      TO_GPT,
      { mcp_servers: [{ type: "url", url: "https://x.example", name: "x" }] },
      "mcp_servers",
    ],
  ];
