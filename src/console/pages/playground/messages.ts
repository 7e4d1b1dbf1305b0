import type { Answer, ToolCall } from "./answer.ts";

/** A part of a question: its text, or an image as a data URL. */
export type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

interface PrintedCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message in OpenAI's form. */
export type Message =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly Part[] }
  | {
      readonly role: "assistant";
      readonly content: string | null;
      readonly tool_calls?: readonly PrintedCall[];
    }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** A tool in OpenAI's form. */
export interface Tool {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters?: Readonly<Record<string, unknown>>;
  };
}

/** What is asked, beside key and model. */
export interface Asked {
  readonly system: string;
  readonly prompt: string;
  /** Data URLs. */
  readonly images: readonly string[];
  readonly tools: readonly Tool[];
  readonly max_tokens?: number;
  readonly temperature?: number;
}

/** Makes the message of a question. */
export function questionOf({ prompt, images }: Pick<Asked, "prompt" | "images">): Message {
  if (images.length === 0) return { role: "user", content: prompt };
  const parts = images.map((url) => ({ type: "image_url", image_url: { url } }) as const);
  return { role: "user", content: [{ type: "text", text: prompt }, ...parts] };
}

/** Makes the message of an answer; `undefined` for one without anything to go on from. */
export function messageOf({ text, calls }: Pick<Answer, "text" | "calls">): Message | undefined {
  if (text === "" && calls.length === 0) return undefined;
  if (calls.length === 0) return { role: "assistant", content: text };
  return { role: "assistant", content: text || null, tool_calls: calls.map(printCall) };
}

/** Makes the messages of what tools returned. Each call has a result, because providers refuse one without. */
export function resultsOf(calls: readonly ToolCall[], results: readonly string[]): readonly Message[] {
  return calls.map(({ id }, index) => ({
    role: "tool",
    tool_call_id: id,
    content: results[index] || "No result.",
  }));
}

function printCall({ id, name, arguments: given }: ToolCall): PrintedCall {
  return { id, type: "function", function: { name, arguments: given } };
}

/** The text of a message, without its images. */
export function textOf(message: Message | undefined): string {
  if (!message) return "";
  if (typeof message.content === "string") return message.content;
  return (message.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** The images of a message, as data URLs. */
export function imagesOf(message: Message | undefined): readonly string[] {
  if (message?.role !== "user" || typeof message.content === "string") return [];
  return message.content.flatMap((part) => (part.type === "image_url" ? [part.image_url.url] : []));
}

/** Reads tools that were typed in: a list in OpenAI's form. Returns a sentence for anything else. */
export function readTools(text: string): readonly Tool[] | string {
  if (text.trim() === "") return [];
  try {
    const list: unknown = JSON.parse(text);
    const tools = Array.isArray(list) ? list : [list];
    return tools.every(isTool) ? tools : 'Each tool is { "type": "function", "function": { "name": … } }.';
  } catch (error) {
    return error instanceof Error ? `No JSON: ${error.message}` : "No JSON.";
  }
}

function isTool(value: unknown): value is Tool {
  if (typeof value !== "object" || value === null || !("function" in value)) return false;
  const { function: called } = value;
  return typeof called === "object" && called !== null && "name" in called && typeof called.name === "string";
}
