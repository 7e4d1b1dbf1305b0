import type { Draft } from "../../drafts.ts";
import type { RecordingContent } from "../../queries/recordings.ts";
import type { Message, Part, Tool } from "./messages.ts";

/** What a recorded request begins a conversation with. */
export interface Beginning {
  /** The messages before the question. */
  readonly given: readonly Message[];
  /** The question and its settings, as the form has them. */
  readonly draft: Draft;
  readonly model: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** Reads a body in OpenAI's or Anthropic's form. Returns `undefined` for one that is no conversation. */
export function readBeginning({ surface, request }: RecordingContent): Beginning | undefined {
  const body = parse(request.text);
  if (!isObject(body)) return undefined;
  const all = surface === "messages" ? readMessages(body) : readChat(body);
  const system = all.flatMap((each) => (each.role === "system" ? [each.content] : [])).join("\n\n");
  const messages = all.filter(({ role }) => role !== "system");
  const last = messages.at(-1);
  const isQuestion = last?.role === "user" && typeof last.content === "string";
  const { model, max_tokens: max, temperature } = body;
  const tools = surface === "messages" ? listOf(body.tools).map(readTool) : listOf(body.tools);
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

/** @see https://docs.claude.com/en/api/messages */
function readMessages(body: Json): readonly Message[] {
  const system = textIn(body.system);
  const messages = listOf(body.messages).flatMap(({ role, content }): Message[] => {
    const blocks = listOf(content);
    if (role === "assistant") {
      const calls = blocks
        .filter(({ type }) => type === "tool_use")
        .flatMap(({ id, name, input }) => readCall(id, { name, arguments: JSON.stringify(input ?? {}) }));
      return [{ role, content: textIn(content) || null, ...(calls.length > 0 && { tool_calls: calls }) }];
    }
    const results = blocks
      .filter(({ type }) => type === "tool_result")
      .map(
        (block) =>
          ({
            role: "tool",
            tool_call_id: String(block.tool_use_id),
            content: textIn(block.content),
          }) as const,
      );
    const rest =
      typeof content === "string" ? content : partsIn(blocks.filter(({ type }) => type !== "tool_result"));
    return rest.length > 0 ? [...results, { role: "user", content: rest }] : results;
  });
  return system === "" ? messages : [{ role: "system", content: system }, ...messages];
}

function readCall(id: unknown, called: unknown) {
  if (!isObject(called) || typeof called.name !== "string") return [];
  const given = typeof called.arguments === "string" ? called.arguments : "{}";
  return [{ id: String(id), type: "function", function: { name: called.name, arguments: given } } as const];
}

function readTool({ name, description, input_schema: parameters }: Json): Tool {
  return {
    type: "function",
    function: {
      name: String(name),
      ...(typeof description === "string" && { description }),
      ...(isObject(parameters) && { parameters }),
    },
  };
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

function imageIn({ type, image_url: image, source }: Json): string | undefined {
  if (type === "image_url" && isObject(image) && typeof image.url === "string") return image.url;
  if (type !== "image" || !isObject(source) || typeof source.data !== "string") return undefined;
  const isKept = /^[A-Za-z0-9+/=]+$/.test(source.data);
  return isKept ? `data:${String(source.media_type)};base64,${source.data}` : source.data;
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
