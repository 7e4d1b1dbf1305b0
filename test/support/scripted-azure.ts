import { HELLO, type ModelOutput } from "./model-output.ts";
import { type Answer, answer, type Script, type ScriptRequest } from "./script.ts";
import {
  answerEmbeddings,
  answerWith,
  chatLines,
  chatWhole,
  EVENT_STREAM,
  frame,
} from "./scripted-answers.ts";
import { type Json, listAt, objectAt } from "./strict-json.ts";

/** What a resource of Azure OpenAI accepts. */
export interface AzureResource {
  /** The one version of the deployments form; `undefined` for a resource that is called in the v1 form. */
  readonly apiVersion: string | undefined;
  /** Accepted keys, and accepted tokens of Entra ID. Both may change. */
  readonly keys: Set<string>;
  readonly tokens: Set<string>;
  readonly deployments: ReadonlySet<string>;
}

const OPERATIONS = ["/chat/completions", "/embeddings", "/responses"];
/** Text of provider errors, which no client may see. */
export const AZURE_TEXT = "azure-canary";

/**
 * Returns a script that answers as the resource does, by default {@link HELLO} in Azure's form. Refuses wrong
 * paths and versions (404), unknown deployments (404), and missing, wrong or double credentials (401).
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/reference
 */
export function answerAsAzure(resource: AzureResource, then: Script = azureAnswer()): Script {
  return (request) => (findFault(resource, request) ?? then)(request);
}

function findFault(resource: AzureResource, request: ScriptRequest): Script | undefined {
  const target = readTarget(resource, request);
  if (!target) return azureError(404, "404");
  if (!isAuthorised(resource, request)) return azureError(401, "401");
  return resource.deployments.has(target.deployment) ? undefined : azureError(404, "DeploymentNotFound");
}

/** Returns the deployment of a call; `undefined` for a path or version that the resource lacks. */
function readTarget({ apiVersion }: AzureResource, { method, target, model = "" }: ScriptRequest) {
  const { pathname, searchParams } = new URL(target, "http://azure");
  if (method !== "POST") return undefined;
  if (apiVersion === undefined) {
    const isCall = OPERATIONS.includes(pathname.replace(/^\/openai\/v1/, ""));
    return pathname.startsWith("/openai/v1/") && isCall && searchParams.size === 0
      ? { deployment: model }
      : undefined;
  }
  const [, deployment = "", operation = ""] = /^\/openai\/deployments\/([^/]+)(\/.*)$/.exec(pathname) ?? [];
  const isCall = OPERATIONS.slice(0, 2).includes(operation);
  const isVersion = searchParams.size === 1 && searchParams.get("api-version") === apiVersion;
  return isCall && isVersion ? { deployment: decodeURIComponent(deployment) } : undefined;
}

function isAuthorised({ keys, tokens }: AzureResource, { headers }: ScriptRequest): boolean {
  const { "api-key": key, authorization } = headers;
  if (key !== undefined && authorization !== undefined) return false;
  return key === undefined ? tokens.has((authorization ?? "").replace(/^Bearer /, "")) : keys.has(key);
}

/** An error in the form of Azure. */
export function azureError(status: number, code: string, how: Omit<Answer, "body" | "status"> = {}): Script {
  return answer({ ...how, status, body: JSON.stringify({ error: { code, message: AZURE_TEXT } }) });
}

const SAFE = { hate: { filtered: false, severity: "safe" }, violence: { filtered: false, severity: "safe" } };
const PROMPT_RESULTS = [{ prompt_index: 0, content_filter_results: SAFE }];

/**
 * A prompt that the content filter refuses.
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter
 */
export const refusedPrompt: Script = answer({
  status: 400,
  body: JSON.stringify({
    error: {
      message: `The response was filtered due to the prompt: ${AZURE_TEXT}`,
      type: null,
      param: "prompt",
      code: "content_filter",
      status: 400,
      innererror: { code: "ResponsibleAIPolicyViolation", content_filter_result: SAFE },
    },
  }),
});

/** Answers in the form of Azure: chat with the results of content filters, responses and embeddings without. */
export function azureAnswer(modelOutput: ModelOutput = HELLO, how: Omit<Answer, "body"> = {}): Script {
  return (request) => {
    if (request.target.includes("/embeddings")) return answerEmbeddings(undefined, how)(request);
    if (!request.target.includes("/chat/completions")) return answerWith(modelOutput, how)(request);
    if (!request.stream) {
      const body = JSON.stringify(withPromptResults(withFilterResults(chatWhole(modelOutput))));
      return answer({ ...how, body })(request);
    }
    const body = frame(
      "openai",
      azureLines(request, modelOutput).map((line) => JSON.stringify(line)),
    );
    return answer({ ...how, headers: { ...EVENT_STREAM, ...how.headers }, body })(request);
  };
}

/** The chunks of a stream: the first has the results of the prompt, no choice and no model. */
export function azureLines(request: ScriptRequest, modelOutput: ModelOutput): readonly object[] {
  const first = { choices: [], created: 0, id: "", model: "", object: "" };
  const chunks = chatLines(request, modelOutput).map((line) => withFilterResults(JSON.parse(line)));
  return [withPromptResults(first), ...chunks];
}

/**
 * The chunk in which an asynchronous filter reports: a choice without a delta.
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-streaming
 */
export const ANNOTATION = {
  id: "",
  object: "",
  created: 0,
  model: "",
  choices: [
    {
      index: 0,
      finish_reason: null,
      content_filter_results: SAFE,
      content_filter_offsets: { check_offset: 44, start_offset: 44, end_offset: 198 },
    },
  ],
};

function withPromptResults(body: object): object {
  return { ...body, prompt_filter_results: PROMPT_RESULTS };
}

function withFilterResults(body: object): object {
  const { choices, ...others }: Json = { ...body };
  const filtered = listAt(choices).map((each) => ({
    ...objectAt(each, "a choice"),
    content_filter_results: SAFE,
  }));
  return { ...others, choices: filtered };
}
