type Json = Readonly<Record<string, unknown>>;
type Rule = (body: Json) => string | undefined;

/** Members of each object of a request for embeddings; any other is refused, as the providers refuse it. */
const REQUEST = ["model", "content", "taskType", "title", "outputDimensionality"];
const CONTENT_CONFIG = ["autoTruncate", "taskType", "title", "outputDimensionality"];
const INSTANCE = ["content", "task_type", "title"];

const RULES: Readonly<Record<string, Rule>> = {
  batchEmbedContents: (body) => {
    const { requests } = body;
    if (!Array.isArray(requests) || requests.length === 0 || requests.length > 100) return "requests";
    return (
      findUnknown(body, ["requests"]) ??
      firstOf(requests, (each) => findUnknown(each, REQUEST) ?? findContent(each))
    );
  },
  predict: (body) => {
    const { instances, parameters } = body;
    if (!Array.isArray(instances) || instances.length === 0 || instances.length > 250) return "instances";
    return (
      findUnknown(body, ["instances", "parameters"]) ??
      findUnknown(Object(parameters), ["autoTruncate", "outputDimensionality"]) ??
      firstOf(instances, (each) => findUnknown(each, INSTANCE))
    );
  },
  embedContent: (body) =>
    findUnknown(body, ["content", "embedContentConfig"]) ??
    findContent(body) ??
    findUnknown(Object(body.embedContentConfig), CONTENT_CONFIG),
};

/** Returns the rule of a method of Google's for embeddings; `undefined` for any other. */
export function findEmbeddingsRule(method: string): Rule | undefined {
  return RULES[method];
}

const TITAN = ["inputText", "dimensions", "normalize", "embeddingTypes"];
const COHERE = ["texts", "input_type", "truncate", "embedding_types", "output_dimension"];

/** Returns why Bedrock would refuse a body for a model of embeddings, or `undefined`. */
export function findBedrockProblem(model: string, body: Json): string | undefined {
  if (model.includes("titan")) {
    return typeof body.inputText === "string" ? findUnknown(body, TITAN) : "inputText is required";
  }
  const { texts, input_type: type } = body;
  if (!Array.isArray(texts) || texts.length === 0 || texts.length > 96) return "texts";
  return typeof type === "string" ? findUnknown(body, COHERE) : "input_type is required";
}

function findUnknown(body: Json, members: readonly string[]): string | undefined {
  return Object.keys(body).find((name) => !members.includes(name));
}

function findContent({ content }: Json): string | undefined {
  const { parts } = Object(content);
  return Array.isArray(parts) && parts.length === 1 && typeof parts[0]?.text === "string"
    ? undefined
    : "content";
}

function firstOf(list: readonly Json[], rule: Rule): string | undefined {
  for (const each of list) {
    const problem = rule(each);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
