import { drawInteger, drawOne, type RandomSource } from "../../support/seeded-random.ts";

/** The placeholder of nesting deep enough to overflow the stack of a recursive codec. */
const DEEP = "<deep>";
const DEEP_LEVELS = [200, 2_000, 30_000];

const NUMBERS = [0, -0, -1, 1, 0.5, -0.5, 1e308, -1e308, 5e-324, 2 ** 53, 2 ** 31, 4_294_967_296, 1e21, 1023];
const TEXTS = [
  "",
  " ",
  "\n",
  "\u0000",
  "\ud800",
  "a\udc00b",
  "\u2028\u2029",
  "\ufeff",
  "𝕏".repeat(3),
  "data: x\n\ndata: [DONE]\n\n",
  '"}],"x":[{"',
  "\\",
  "null",
  "{}",
  "[]",
  '{"a":',
  "NaN",
  "-1",
  "1e999",
];

/** Words that some format defines. */
const WORDS = [
  ...["system", "developer", "user", "assistant", "tool", "function", "model", "critic"],
  ...[
    "text",
    "image_url",
    "image",
    "file",
    "document",
    "input_audio",
    "refusal",
    "thinking",
    "redacted_thinking",
  ],
  ...[
    "tool_use",
    "tool_result",
    "server_tool_use",
    "web_search_tool_result",
    "search_result",
    "container_upload",
  ],
  ...["input_text", "output_text", "input_image", "input_file", "message", "reasoning", "function_call"],
  ...["function_call_output", "custom_tool_call", "custom_tool_call_output", "item_reference", "namespace"],
  ...["auto", "none", "required", "any", "allowed_tools", "custom", "json_schema", "json_object", "json"],
  ...[
    "stop",
    "length",
    "tool_calls",
    "content_filter",
    "end_turn",
    "max_tokens",
    "pause_turn",
    "error",
    "eos",
  ],
  ...["minimal", "low", "medium", "high", "xhigh", "max", "enabled", "adaptive", "disabled", "omitted"],
  ...[
    "ephemeral",
    "5m",
    "1h",
    "base64",
    "url",
    "text/plain",
    "application/pdf",
    "image/png",
    "image/svg+xml",
  ],
  ...["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"],
  ...["message_stop", "ping", "text_delta", "input_json_delta", "thinking_delta", "signature_delta"],
  ...["response.created", "response.completed", "response.failed", "response.incomplete", "[DONE]"],
];

/** Names that every object inherits. */
const INHERITED = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "then",
  "toJSON",
  "length",
];

const ADDRESSES = [
  "data:image/png;base64,iVBORw0KGgo=",
  "data:image/svg+xml;base64,PHN2Zy8+",
  "data:image/png,%89PNG",
  "data:IMAGE/JPEG;charset=utf-8;base64,/9j/",
  "data:;base64,",
  "data:application/pdf;base64,JVBERi0=",
  "data:text/plain;base64,aGk=",
  "data:",
  "data:image/png;base64,!!!! not base64",
  "https://example.com/a.png",
  "http://169.254.169.254/latest",
  "file:///etc/passwd",
  "//example.com",
  "sandbox:x",
];

/** Draws a text that is likely to break a codec. */
export function drawText(draw: RandomSource): string {
  const kind = draw();
  if (kind < 0.3) return drawOne(draw, WORDS);
  if (kind < 0.55) return drawOne(draw, TEXTS);
  if (kind < 0.7) return drawOne(draw, ADDRESSES);
  if (kind < 0.8) return drawOne(draw, INHERITED);
  if (kind < 0.9) return drawOne(draw, ["x", "_", "é", "-", "\ud83d"]).repeat(drawInteger(draw, 30, 400));
  return `${drawOne(draw, WORDS)}_${drawInteger(draw, 0, 99)}`;
}

/** Draws any value in place of the expected one. */
export function drawHostile(draw: RandomSource): unknown {
  const kind = draw();
  if (kind < 0.2) return null;
  if (kind < 0.4) return drawOne(draw, NUMBERS);
  if (kind < 0.45) return draw() < 0.5;
  if (kind < 0.75) return drawText(draw);
  if (kind < 0.79) return nest(drawHostile(draw), drawInteger(draw, 1, 60), draw() < 0.5);
  if (kind < 0.8) return DEEP;
  if (kind < 0.87) return drawOne(draw, [[], {}, [[]], [null], [{}], [""], { "": "" }]);
  if (kind < 0.93) return Array.from({ length: drawInteger(draw, 1, 5) }, () => drawHostile(draw));
  return { [drawName(draw)]: drawHostile(draw), [drawName(draw)]: drawHostile(draw) };
}

/** Draws a member name. */
export function drawName(draw: RandomSource): string {
  return draw() < 0.4 ? drawOne(draw, INHERITED) : drawText(draw);
}

/** Replaces the placeholder by deep nesting. */
export function deepen(draw: RandomSource, json: string): string {
  const mark = JSON.stringify(DEEP);
  if (!json.includes(mark)) return json;
  const levels = drawOne(draw, DEEP_LEVELS);
  const [open, close] = draw() < 0.5 ? ["[", "]"] : ['{"a":', "}"];
  return json.replace(mark, () => `${open.repeat(levels)}1${close.repeat(levels)}`);
}

function nest(inner: unknown, levels: number, inArrays: boolean): unknown {
  let value = inner;
  for (let level = 0; level < levels; level += 1) value = inArrays ? [value] : { a: value };
  return value;
}
