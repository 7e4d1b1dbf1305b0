import { isJsonObject, type JsonObject, readArray, readText } from "../../src/wire/json/read.ts";

/** The tools and tool results of a request in any format. */
export interface Conversation {
  readonly tools: readonly OfferedTool[];
  readonly results: readonly ToolResult[];
}

interface OfferedTool {
  readonly name: string;
  /** Whether the format declares the tool as a free-form one. */
  readonly takesText: boolean;
  /** The namespace of the tool, which its calls must repeat. */
  readonly namespace: string | undefined;
}

interface ToolResult {
  readonly callId: string;
  /** The text of the result, or its JSON. */
  readonly text: string;
}

export function readConversation(body: JsonObject): Conversation {
  const turns = readArray(body.messages ?? body.input ?? body.contents).filter(isJsonObject);
  const tools = [body, ...turns].flatMap((holder) => readArray(holder.tools)).filter(isJsonObject);
  return { tools: tools.flatMap((tool) => readTool(tool)), results: turns.flatMap(readResults) };
}

/** Chat completions nest a tool in `function`, responses nest tools in a namespace, and Gemini in a tool. */
function readTool(tool: JsonObject, namespace?: string): readonly OfferedTool[] {
  const name = readText(tool.name);
  if (Array.isArray(tool.functionDeclarations))
    return tool.functionDeclarations.filter(isJsonObject).flatMap((each) => readTool(each));
  if (tool.type === "namespace") {
    return readArray(tool.tools)
      .filter(isJsonObject)
      .flatMap((each) => readTool(each, name));
  }
  if (isJsonObject(tool.function)) return readTool(tool.function, namespace);
  return name === "" ? [] : [{ name, takesText: tool.type === "custom", namespace }];
}

function readResults(turn: JsonObject): readonly ToolResult[] {
  if (turn.role === "tool") return [{ callId: readText(turn.tool_call_id), text: textOf(turn.content) }];
  if (readText(turn.type).endsWith("_call_output"))
    return [{ callId: readText(turn.call_id), text: textOf(turn.output) }];
  if (Array.isArray(turn.parts)) return turn.parts.filter(isJsonObject).flatMap(readResponse);
  return readArray(turn.content)
    .filter(isJsonObject)
    .filter(({ type }) => type === "tool_result")
    .map(({ tool_use_id, content }) => ({ callId: readText(tool_use_id), text: textOf(content) }));
}

/** Reads a part of Gemini's. */
function readResponse({ functionResponse: response }: JsonObject): readonly ToolResult[] {
  return isJsonObject(response) ? [{ callId: readText(response.id), text: textOf(response.response) }] : [];
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}
