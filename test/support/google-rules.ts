type Json = Readonly<Record<string, unknown>>;

/** The members of each object of a `generateContent` body; any other is refused, as Google refuses it. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  body: [
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "serviceTier",
  ],
  content: ["role", "parts"],
  part: ["text", "inlineData", "fileData", "functionCall", "functionResponse", "thought", "thoughtSignature"],
  inlineData: ["mimeType", "data"],
  fileData: ["mimeType", "fileUri"],
  functionCall: ["id", "name", "args"],
  functionResponse: ["id", "name", "response"],
  tool: ["functionDeclarations", "googleSearch"],
  functionDeclaration: ["name", "description", "parameters", "parametersJsonSchema"],
  toolConfig: ["functionCallingConfig"],
  functionCallingConfig: ["mode", "allowedFunctionNames"],
  generationConfig: [
    "maxOutputTokens",
    "temperature",
    "topP",
    "topK",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "stopSequences",
    "responseMimeType",
    "responseJsonSchema",
    "thinkingConfig",
    "candidateCount",
  ],
  thinkingConfig: ["includeThoughts", "thinkingBudget", "thinkingLevel"],
};
const TIERS = /^(?:SERVICE_TIER_)?(?:STANDARD|FLEX|PRIORITY)$/i;
const DATA = ["text", "inlineData", "fileData", "functionCall", "functionResponse"];

/** Returns why Google would refuse a body with 400, or `undefined`. */
export function findBodyProblem(body: Json): string | undefined {
  try {
    checkBody(body);
    return undefined;
  } catch (error) {
    return error instanceof Refusal ? error.message : `Invalid JSON payload received: ${error}`;
  }
}

class Refusal extends Error {}

function check(holds: boolean, message: string): void {
  if (!holds) throw new Refusal(message);
}

function objectOf(value: unknown, kind: string): Json {
  check(typeof value === "object" && value !== null && !Array.isArray(value), `${kind} is no message`);
  const members = Object.entries(Object(value)).map(([name, each]) => [camelCase(name), each] as const);
  for (const [name] of members) {
    check(MEMBERS[kind]?.includes(name) ?? false, `Unknown name "${name}" at '${kind}': Cannot find field.`);
  }
  return Object.fromEntries(members);
}

/** Google takes names in snake_case too. */
function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function listOf(value: unknown, kind: string): readonly unknown[] {
  check(Array.isArray(value) && value.length > 0, `* ${kind}: is not specified`);
  return value as readonly unknown[];
}

function checkBody(value: Json): void {
  const body = objectOf(value, "body");
  const contents = listOf(body.contents, "GenerateContentRequest.contents").map(checkContent);
  check(contents[0]?.role === "user", "Please ensure that multiturn requests begin with a user turn");
  contents.forEach((content, at) => void checkOrder(content, contents[at - 1]));
  if (body.systemInstruction !== undefined) checkContent({ role: "user", ...Object(body.systemInstruction) });
  if (body.tools !== undefined) for (const tool of listOf(body.tools, "tools")) checkTool(tool);
  if (body.toolConfig !== undefined) checkChoice(objectOf(body.toolConfig, "toolConfig"));
  if (body.generationConfig !== undefined) checkConfig(objectOf(body.generationConfig, "generationConfig"));
  check(TIERS.test(String(body.serviceTier ?? "standard")), "Invalid value at 'service_tier'");
}

interface Content {
  readonly role: unknown;
  readonly parts: readonly Json[];
}

function checkContent(value: unknown): Content {
  const { role, parts } = objectOf(value, "content");
  check(role === "user" || role === "model", "Please use a valid role: user, model.");
  return { role, parts: listOf(parts, "GenerateContentRequest.contents.parts").map(checkPart) };
}

function checkPart(value: unknown): Json {
  const part = objectOf(value, "part");
  const data = DATA.filter((name) => part[name] !== undefined);
  check(data.length === 1, "contents.parts must have one initialized field");
  for (const name of data) if (name !== "text") objectOf(part[name], name);
  if (part.text !== undefined)
    check(part.text !== "" || part.thoughtSignature !== undefined, "text is empty");
  return part;
}

/** Function responses follow the message with their calls, and are as many as the calls. */
function checkOrder({ role, parts }: Content, before: Content | undefined): void {
  check(before?.role !== role, "Please ensure that roles alternate between user and model");
  const calls = before?.parts.filter(({ functionCall }) => functionCall) ?? [];
  const responses = parts.filter(({ functionResponse }) => functionResponse);
  check(
    role !== "user" || calls.length === responses.length,
    "Please ensure that the number of function response parts is equal to the number of function call parts",
  );
  const names = responses.map(({ functionResponse }) => Object(functionResponse).name);
  const called = calls.map(({ functionCall }) => Object(functionCall).name);
  check(
    role !== "user" || names.every((name) => called.includes(name)),
    "A function response has the name of no call",
  );
}

function checkTool(value: unknown): void {
  const { functionDeclarations, googleSearch } = objectOf(value, "tool");
  if (googleSearch !== undefined && functionDeclarations === undefined) return;
  for (const each of listOf(functionDeclarations, "functionDeclarations")) {
    const { name, description, parametersJsonSchema: schema } = objectOf(each, "functionDeclaration");
    check(/^[A-Za-z_][\w.:-]{0,63}$/.test(String(name)), "Invalid function name");
    check(typeof description === "string" && description !== "", "A function has no description");
    if (schema !== undefined) check(Object(schema).type === "object", "parameters are no object");
  }
}

function checkChoice({ functionCallingConfig }: Json): void {
  const { mode, allowedFunctionNames } = objectOf(functionCallingConfig, "functionCallingConfig");
  check(["AUTO", "ANY", "NONE"].includes(String(mode)), "Unknown mode");
  check(mode === "ANY" || allowedFunctionNames === undefined, "allowed_function_names needs mode ANY");
}

function checkConfig(config: Json): void {
  check(Number(config.maxOutputTokens) > 0, "max_output_tokens must be positive");
  check(
    config.stopSequences === undefined || Object(config.stopSequences).length <= 5,
    "too many stop sequences",
  );
  check(
    config.responseJsonSchema === undefined || config.responseMimeType === "application/json",
    "response_schema needs response_mime_type application/json",
  );
  if (config.seed !== undefined) check((Number(config.seed) | 0) === config.seed, "seed is no int32");
  if (config.thinkingConfig === undefined) return;
  const { thinkingBudget, thinkingLevel } = objectOf(config.thinkingConfig, "thinkingConfig");
  check(
    thinkingBudget === undefined || thinkingLevel === undefined,
    "You can only set only one of thinking budget and thinking level.",
  );
}

/** The signature of every scripted call. */
export const SIGNATURE = "c2lnbmF0dXJl";
/** The signature with which Google documents calls that its model did not make. */
export const SKIPPED_SIGNATURE = "skip_thought_signature_validator";
const SIGNING_MODEL = /gemini-(?:[3-9]|[1-9]\d)/;
const BASE64 = /^[\w+/-]+=*$/;

/**
 * Returns Google's complaint about the signatures of calls, which models from Gemini 3 on want back: on the first call
 * of each message since the user spoke last.
 *
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function findSignatureProblem(model: string, body: Json): string | undefined {
  if (!SIGNING_MODEL.test(model)) return undefined;
  const contents: readonly Json[] = (Array.isArray(body.contents) ? body.contents : []).map(
    (each): Json => Object(each),
  );
  const partsOf = ({ parts }: Json): readonly Json[] =>
    Array.isArray(parts) ? parts.map((part) => Object(part)) : [];
  const isSpoken = (content: Json) =>
    content.role === "user" && partsOf(content).some((part) => !("functionResponse" in part));
  const turn = contents.slice(contents.findLastIndex(isSpoken) + 1);
  const firsts = turn.flatMap((content) =>
    partsOf(content)
      .filter((part) => "functionCall" in part)
      .slice(0, 1),
  );
  if (firsts.some(({ thoughtSignature }) => thoughtSignature === undefined))
    return "Function call is missing a thought_signature in functionCall parts.";
  return firsts.every(({ thoughtSignature }) => BASE64.test(String(thoughtSignature)))
    ? undefined
    : "Corrupted thought signature.";
}
