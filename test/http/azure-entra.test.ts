import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { CHAT, objectOf, post } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { AZURE_TEXT, type AzureResource, answerAsAzure } from "../support/scripted-azure.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const SCOPE = "https://cognitiveservices.azure.com/.default";
const VARIABLES = ["IDENTITY_ENDPOINT", "IDENTITY_HEADER", "AZURE_TOKEN_CREDENTIALS"] as const;

/**
 * The identity endpoint of an app service. It requires its header and the resource of Azure OpenAI.
 * @see https://learn.microsoft.com/azure/app-service/overview-managed-identity#rest-endpoint-reference
 */
function startIdentity() {
  const state = { fetches: 0, answer: async (): Promise<Response> => new Response("", { status: 500 }) };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      state.fetches += 1;
      const { searchParams } = new URL(request.url);
      const isKnown = request.headers.get("x-identity-header") === "identity-secret";
      const isOfAzure = searchParams.get("resource") === "https://cognitiveservices.azure.com";
      return isKnown && isOfAzure ? state.answer() : new Response(AZURE_TEXT, { status: 400 });
    },
  });
  return { state, url: `${server.url.origin}/msi/token`, stop: () => server.stop(true) };
}

function tokenAnswer(token: string): Promise<Response> {
  const expires_on = String(Math.floor(Date.now() / 1000) + 3_600);
  return Promise.resolve(
    Response.json({ access_token: token, expires_on, token_type: "Bearer", resource: "r" }),
  );
}

let identity: ReturnType<typeof startIdentity>;
let gateway: TestGateway;
let resource: AzureResource;
const before = VARIABLES.map((name) => [name, process.env[name]] as const);

/** A gateway has a token of its own: its upstream is new. */
async function startGateway(connectMs = 60_000): Promise<void> {
  const timeouts = { connectMs, firstOutputMs: 60_000, idleMs: 60_000, totalMs: 120_000 };
  gateway = await startTestGateway({
    models: [
      scriptedModel("chat", "openai", { routes: [scriptedRoute("azure", "chat")] }),
      scriptedModel("both", "openai", {
        routes: [scriptedRoute("azure", "chat"), scriptedRoute("keyed", "spare", { priority: 2 })],
      }),
    ],
    upstreams: ({ url, openaiUrl }) => [
      scriptedUpstream("azure", "azure", { baseUrl: url, apiKey: "", entraScope: SCOPE, timeouts }),
      scriptedUpstream("keyed", "openai", { baseUrl: openaiUrl }),
    ],
  });
  gateway.upstream.on("chat", answerAsAzure(resource));
}

beforeAll(() => {
  identity = startIdentity();
  process.env.IDENTITY_ENDPOINT = identity.url;
  process.env.IDENTITY_HEADER = "identity-secret";
  process.env.AZURE_TOKEN_CREDENTIALS = "ManagedIdentityCredential";
});
beforeEach(() => {
  identity.state.fetches = 0;
  const deployments = new Set(["chat"]);
  resource = { apiVersion: undefined, keys: new Set(), tokens: new Set(["token-canary"]), deployments };
});
afterAll(() => {
  for (const [name, value] of before) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  return identity.stop();
});

describe("an upstream with tokens of Entra ID", () => {
  test("case 173: fetches one token of the machine's identity for many requests", async () => {
    await startGateway();
    identity.state.answer = () => tokenAnswer("token-canary");
    const responses = await Promise.all(Array.from({ length: 20 }, () => post(gateway, CHAT)));
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await post(gateway, CHAT)).status).toBe(200);
    expect(identity.state.fetches).toBe(1);
    for (const { headers } of gateway.upstream.seen) {
      expect(headers).toMatchObject({ authorization: "Bearer token-canary" });
      expect(headers).not.toHaveProperty("api-key");
    }
    expect(gateway.log.text()).not.toContain("token-canary");
    await gateway.stop();
  });

  test("case 174: without a token uses the next route, and recovers with the first token", async () => {
    await startGateway();
    identity.state.answer = async () => new Response(AZURE_TEXT, { status: 400 });
    const response = await post(gateway, CHAT, { model: "both" });
    expect(await objectOf(response)).toMatchObject({ model: "both" });
    const { outcome } = await gateway.receiptOf(response);
    expect(outcome?.attempts).toMatchObject([{ upstream: "azure", status: 0 }, { upstream: "keyed" }]);
    await expectError(await post(gateway, CHAT), CHAT, "upstream_unavailable");
    expect(gateway.log.text()).not.toContain(AZURE_TEXT);
    expect(gateway.log.text()).toContain("NO_CREDENTIALS");
    identity.state.answer = () => tokenAnswer("token-canary");
    expect((await post(gateway, CHAT)).status).toBe(200);
    await gateway.stop();
  });

  test("case 175: is unavailable while Azure refuses the token", async () => {
    await startGateway();
    identity.state.answer = () => tokenAnswer("token-canary");
    resource.tokens.clear();
    const response = await post(gateway, CHAT);
    await expectError(response.clone(), CHAT, "upstream_unavailable");
    expect(await response.text()).not.toContain(AZURE_TEXT);
    await gateway.stop();
  });

  test("case 176: ends an attempt at connect_ms while the identity endpoint is silent", async () => {
    await startGateway(200);
    const { promise, resolve } = Promise.withResolvers<Response>();
    identity.state.answer = () => promise;
    const response = await post(gateway, CHAT, { model: "both" });
    expect(response.status).toBe(200);
    const { outcome } = await gateway.receiptOf(response);
    expect(outcome?.attempts).toMatchObject([{ upstream: "azure", status: 0 }, { upstream: "keyed" }]);
    resolve(await tokenAnswer("token-canary"));
    await gateway.stop();
  });
});
