import type { Draft } from "../../drafts.ts";
import type { RecordingContent } from "../../queries/recordings.ts";
import type { Message, Part } from "./messages.ts";

/** What a recorded request begins a conversation with. */
export interface Beginning {
  /** The messages before the question. */
  readonly given: readonly Message[];
  /** The question and its settings, as the form has them. */
  readonly draft: Draft;
  readonly model: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** Reads the conversation of a recorded request. Returns `undefined` for a request without a conversation. */
export function readBeginning({
  conversation,
}: Pick<RecordingContent, "conversation">): Beginning | undefined {
  const body = parse(conversation ?? "");
  if (!isObject(body)) return undefined;
  const all = readChat(body);
  const system = all.flatMap((each) => (each.role === "system" ? [each.content] : [])).join("\n\n");
  const messages = all.filter(({ role }) => role !== "system");
  const last = messages.at(-1);
  const isQuestion = last?.role === "user" && typeof last.content === "string";
  const { model, max_tokens: max, temperature } = body;
  const tools = listOf(body.tools);
  return {
    given: isQuestion ? messages.slice(0, -1) : messages,
    model: typeof model === "string" ? model : undefined,
    draft: {
      system,
      prompt: isQuestion && typeof last.content === "string" ? last.content : "",
      tools: tools.length > 0 ? JSON.stringify(tools, undefined, 2) : "",
      max_tokens: typeof max === "number" ? String(max) : "",
      temperature: typeof temperature === "number" ? String(temperature) : "",
    },
  };
}

/** @see https://platform.openai.com/docs/api-reference/chat/create */
function readChat(body: Json): readonly Message[] {
  return listOf(body.messages).flatMap(
    ({ role, content, tool_calls: calls, tool_call_id: id }): Message[] => {
      const text = textIn(content);
      if (role === "system" || role === "developer") return [{ role: "system", content: text }];
      if (role === "user") return [{ role, content: partsIn(content) }];
      if (role === "tool") return [{ role, tool_call_id: String(id), content: text }];
      if (role !== "assistant") return [];
      const called = listOf(calls).flatMap((call) => readCall(call.id, call.function));
      return [{ role, content: text || null, ...(called.length > 0 && { tool_calls: called }) }];
    },
  );
}

function readCall(id: unknown, called: unknown) {
  if (!isObject(called) || typeof called.name !== "string") return [];
  const given = typeof called.arguments === "string" ? called.arguments : "{}";
  return [{ id: String(id), type: "function", function: { name: called.name, arguments: given } } as const];
}

/** A text alone stays a text. An image that was not kept is named by the text that stands for it. */
function partsIn(content: unknown): string | readonly Part[] {
  if (typeof content === "string") return content;
  const parts = listOf(content).flatMap((part): Part[] => {
    const url = imageIn(part);
    if (url?.startsWith("data:image/")) return [{ type: "image_url", image_url: { url } }];
    const text = url ?? textIn([part]);
    return text === "" ? [] : [{ type: "text", text }];
  });
  const isText = parts.every(({ type }) => type === "text");
  return isText ? parts.map((part) => (part.type === "text" ? part.text : "")).join("\n") : parts;
}

/** The address of an image; of one that was not kept, the text that stands for it. */
function imageIn({ type, image_url: image }: Json): string | undefined {
  if (type !== "image_url" || !isObject(image) || typeof image.url !== "string") return undefined;
  return image.url.replace(/^data:[^,]*,\[/, "[");
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .flatMap(({ text }) => (typeof text === "string" ? [text] : []))
    .join("\n");
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
