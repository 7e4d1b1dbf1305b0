import { describe, expect, test } from "bun:test";
import type { Caller } from "../../src/accounts/keys/key.ts";
import type { Body } from "../../src/bodies/body.ts";
import { openBody, type Planned, type PlanQuestion } from "../../src/bodies/open-body.ts";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { ChatSurface, Model, Route, Surface } from "../../src/domain/model.ts";
import { type Cause, GatewayError } from "../../src/errors.ts";
import { planRequest } from "../../src/gateway/plan.ts";
import type { Plan } from "../../src/gateway/request.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { scriptedModel, scriptedRoute } from "../support/test-catalog.ts";
import { createUpstream } from "./candidates.ts";
import { createGatewayParts } from "./gateway-parts.ts";
import { createCall, TEST_CALLER } from "./held-request.ts";

const CHAT: readonly Surface[] = ["chat"];
const MESSAGES: readonly Surface[] = ["messages"];
const BOTH: readonly Surface[] = ["chat", "responses"];
const TEXTS: Readonly<Record<ChatSurface | "embeddings", string>> = {
  chat: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] }),
  messages: JSON.stringify({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }),
  responses: JSON.stringify({ model: "m", input: "hi", store: false }),
  embeddings: JSON.stringify({ model: "m", input: "hi" }),
};
const UNTRANSLATABLE = new GatewayError("untranslatable", { path: "messages[0]" });

interface PlanOptions {
  /** The client's format. */
  readonly client?: ChatSurface | "embeddings";
  /** Formats of the upstreams "u0", "u1" and so on; `undefined` for one that is not configured. */
  readonly upstreams?: readonly (readonly Surface[] | undefined)[];
  readonly caller?: Partial<Caller["key"]> & { readonly accountSuspended?: boolean };
  readonly model?: Partial<Model>;
  readonly traits?: readonly Route["traits"][];
  /** Replaces the plan of every translation. */
  readonly planned?: Planned;
}

/** Plans a request for the model "m"; `questions` are those that its body was asked. */
async function plan(options: PlanOptions) {
  const { client = "chat", upstreams = [CHAT], caller: { accountSuspended = false, ...key } = {} } = options;
  const routes = upstreams.map((_, index) => {
    const traits = options.traits?.[index];
    return scriptedRoute(`u${index}`, "theirs", traits && { traits });
  });
  const { gateway } = createGatewayParts({
    catalog: createCatalog([scriptedModel("m", "openai", { routes, ...options.model })]),
    upstreams: new Map(
      upstreams.flatMap((surfaces, index) =>
        surfaces ? [[`u${index}`, createUpstream(`u${index}`, { surfacesOf: () => surfaces })] as const] : [],
      ),
    ),
  });
  const wire = WIRES[client];
  const opened = openBody(wire, TEXTS[client]);
  const questions: PlanQuestion[] = [];
  const body: Body = {
    request: opened.request,
    print: (surface, printOptions) => opened.print(surface, printOptions),
    printCount: (options) => opened.printCount(options),
    beginning: () => opened.beginning(),
    promptText: () => opened.request.promptText(),
    plan(asked) {
      questions.push(...asked);
      return options.planned
        ? asked.map(() => options.planned ?? { untranslatable: undefined })
        : opened.plan(asked);
    },
  };
  const caller = { key: { ...TEST_CALLER.key, ...key }, accountSuspended };
  const planned = await planRequest(gateway, { call: { ...createCall(), wire }, caller, body });
  return { planned, questions };
}

/** "upstream format" of each candidate. */
function listOf({ candidates }: Plan): string[] {
  return candidates.map(({ route, upstream, codec }) => {
    expect(upstream.name).toBe(route.upstream);
    return `${upstream.name} ${codec.format.surface}`;
  });
}

describe("the candidates of a request", () => {
  test.each<[name: string, options: PlanOptions, candidates: readonly string[], questions: number]>([
    ["pass through in the client's format", {}, ["u0 chat"], 0],
    [
      "pass through without a plan of the body, however many there are",
      { upstreams: [CHAT, BOTH, CHAT] },
      ["u0 chat", "u1 chat", "u2 chat"],
      0,
    ],
    ["are translated to another format", { upstreams: [MESSAGES] }, ["u0 messages"], 1],
    [
      "are planned once for each format",
      { upstreams: [MESSAGES, MESSAGES] },
      ["u0 messages", "u1 messages"],
      1,
    ],
    [
      "keep the order of the routes when some are translated",
      { upstreams: [MESSAGES, CHAT, MESSAGES] },
      ["u0 messages", "u1 chat", "u2 messages"],
      1,
    ],
    ["reach chat completions from messages", { client: "messages", upstreams: [CHAT] }, ["u0 chat"], 1],
    [
      "prefer the client's format where an upstream has several",
      { client: "responses", upstreams: [BOTH] },
      ["u0 responses"],
      0,
    ],
    ["leave out a route whose upstream is not configured", { upstreams: [undefined, CHAT] }, ["u1 chat"], 0],
    [
      "leave out a route that cannot express the request",
      { upstreams: [MESSAGES, CHAT], planned: { untranslatable: UNTRANSLATABLE } },
      ["u1 chat"],
      1,
    ],
    [
      "leave out a route that no translation reaches",
      { client: "embeddings", upstreams: [MESSAGES, ["embeddings"]], model: { outputTokensMax: 0 } },
      ["u1 embeddings"],
      0,
    ],
  ])("%s", async (_name, options, candidates, questions) => {
    const { planned, questions: asked } = await plan(options);
    expect(listOf(planned)).toEqual([...candidates]);
    expect(asked).toHaveLength(questions);
  });

  test("share one codec when all pass through", async () => {
    const { planned } = await plan({ upstreams: [CHAT, CHAT] });
    expect(new Set(planned.candidates.map(({ codec }) => codec)).size).toBe(1);
    expect(planned.textBytes).toBe(0);
  });

  test("measure bodies of equal traits once, and take the largest", async () => {
    const none = { reasoning: "none", sampling: true } as const;
    const budget = { reasoning: "budget", sampling: true } as const;
    const { planned, questions } = await plan({
      upstreams: [MESSAGES, MESSAGES, MESSAGES],
      traits: [none, budget, none],
    });
    expect(questions[0]?.options.map(({ traits }) => traits)).toEqual([none, budget]);
    expect(planned.textBytes).toBeGreaterThan(20);
  });

  test("have the options of their body, with the output limit of the model", async () => {
    const { planned } = await plan({});
    expect(planned.candidates[0]?.printOptions).toMatchObject({
      model: "theirs",
      outputTokensMax: 1_000,
      stream: false,
      origin: "u0 theirs",
    });
  });
});

describe("a request cannot be planned", () => {
  test.each<[name: string, options: PlanOptions, cause: Cause]>([
    ["for a suspended account", { caller: { accountSuspended: true } }, "account_suspended"],
    ["for an unknown model", { model: { id: "other" } }, "unknown_model"],
    ["for a model that the key may not use", { caller: { models: ["other"] } }, "model_not_allowed"],
    ["for output of an embedding model", { model: { outputTokensMax: 0 } }, "not_built"],
    [
      "when no format of the model can express it",
      { upstreams: [MESSAGES], planned: { untranslatable: UNTRANSLATABLE } },
      "untranslatable",
    ],
    [
      "when no translation reaches the model",
      { client: "embeddings", upstreams: [MESSAGES], model: { outputTokensMax: 0 } },
      "not_built",
    ],
    ["when no upstream of the model is configured", { upstreams: [undefined] }, "not_built"],
  ])("%s", (_name, options, cause) => expect(plan(options)).rejects.toThrow(cause));
});
