import { assertRead, isObject, type Json, listAt, objectAt, textAt } from "../../support/strict-json.ts";
import { isId, type Sent } from "./read-sent.ts";
import { isCount } from "./reading.ts";

/** Reads a messages body that was printed for an upstream as Anthropic does. Throws, with what that would refuse. */
export function readSentMessages(text: string, { model, stream, outputTokensMax }: Sent): void {
  const body = objectAt(JSON.parse(text), "a body");
  assertRead(body.model === model, "another model's name");
  assertRead((body.stream === true) === stream, "another kind of answer");
  assertRead(isCount(body.max_tokens), "no output limit");
  if (outputTokensMax !== undefined) assertRead(body.max_tokens === outputTokensMax, "another output limit");
  assertRead(listAt(body.messages).length > 0, "no messages");
  let previous: unknown;
  for (const each of listAt(body.messages)) {
    const { role, content } = objectAt(each, "a message");
    assertRead(role !== previous, "two messages of one role in a row");
    assertRead(previous !== undefined || role === "user", "an answer without a question");
    previous = role;
    readContent(role, content);
  }
  if (body.system !== undefined) readSystem(body.system);
  readTools(body);
  readSampling(body);
}

function readSystem(system: unknown): void {
  assertRead(listAt(system).length > 0 || textAt(system).trim() !== "", "a system text that is empty");
  for (const block of listAt(system)) readBlock("system", objectAt(block, "a block"));
}

const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  system: ["text"],
  user: ["text", "image", "document", "tool_result"],
  assistant: ["text", "tool_use", "thinking", "redacted_thinking"],
  tool_result: ["text", "image", "document"],
};

function readContent(role: unknown, content: unknown): void {
  assertRead(listAt(content).length > 0 || textAt(content).trim() !== "", "a message without content");
  let isBehindResults = false;
  for (const each of listAt(content)) {
    const block = objectAt(each, "a block");
    if (block.type !== "tool_result") isBehindResults = true;
    else assertRead(!isBehindResults, "a result behind something else");
    readBlock(textAt(role), block);
  }
}

function readBlock(place: string, block: Json): void {
  assertRead(listAt(BLOCKS[place]).includes(block.type), `a block of type ${String(block.type)} in ${place}`);
  if (block.type === "text") assertRead(textAt(block.text).trim() !== "", "a text that is empty");
  if (block.type === "tool_use") {
    assertRead(
      isId(block.id, 64) && isId(block.name, 128) && isObject(block.input),
      "a call without id, name or input",
    );
  }
  if (block.type === "tool_result") {
    assertRead(isId(block.tool_use_id, 64), "a result without its call");
    const { content } = block;
    if (content === undefined || typeof content === "string") return;
    for (const each of listAt(content)) readBlock("tool_result", objectAt(each, "a block"));
  }
  if (block.type === "image") readImage(objectAt(block.source, "a source"));
}

function readImage({ type, media_type: mediaType, data, url }: Json): void {
  if (type === "url") {
    assertRead(textAt(url) !== "", "an image without address");
    return;
  }
  assertRead(
    ["image/jpeg", "image/png", "image/gif", "image/webp"].includes(textAt(mediaType)),
    "an image of another type",
  );
  assertRead(type === "base64" && typeof data === "string", "an image without data");
}

function readTools({ tools, tool_choice: choice, thinking }: Json): void {
  if (tools === undefined) {
    assertRead(choice === undefined, "a choice of no tools");
    return;
  }
  assertRead(listAt(tools).length > 0, "no tools in a list of them");
  for (const each of listAt(tools)) {
    const { name, input_schema: schema } = objectAt(each, "a tool");
    assertRead(
      isId(name, 128) && isObject(schema) && schema.type === "object",
      "a tool without name or schema",
    );
  }
  if (choice === undefined) return;
  const { type, name } = objectAt(choice, "a choice");
  assertRead(["auto", "any", "none", "tool"].includes(textAt(type)), "a choice that is none");
  if (type === "tool") assertRead(isId(name, 128), "a choice of no name");
  const isForced = type === "any" || type === "tool";
  assertRead(
    !isForced || thinking === undefined || Object(thinking).type === "disabled",
    "thought before a forced call",
  );
}

function readSampling({ thinking, temperature, top_k: topK, max_tokens: most }: Json): void {
  if (temperature !== undefined)
    assertRead(Number(temperature) >= 0 && Number(temperature) <= 1, "a temperature");
  if (thinking === undefined || Object(thinking).type === "disabled") return;
  const { type, budget_tokens: budget } = objectAt(thinking, "thinking");
  assertRead(["enabled", "adaptive"].includes(textAt(type)), "a way of thinking that is none");
  if (type === "enabled")
    assertRead(Number(budget) >= 1024 && Number(budget) < Number(most), "a budget out of bounds");
  assertRead(temperature === undefined && topK === undefined, "a temperature beside thinking");
}
