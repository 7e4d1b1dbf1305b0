import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ERRORS } from "../../../src/errors.ts";
import { createConsoleApi } from "../../../src/http/console/routes.ts";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";

/** Every code of the error contract. */
const CONTRACT = [
  "invalid_request",
  "invalid_api_key",
  "not_authenticated",
  "invalid_credentials",
  "insufficient_balance",
  "spending_limit_exceeded",
  "forbidden",
  "model_not_found",
  "conflict",
  "request_too_large",
  "rate_limit_exceeded",
  "concurrency_exceeded",
  "internal_error",
  "not_implemented",
  "empty_completion",
  "upstream_unavailable",
  "upstream_timeout",
];
const METHODS = ["get", "post", "put", "patch", "delete"];

interface DescribedOperation {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly responses: Readonly<Record<string, object>>;
  readonly security?: object[];
  readonly parameters?: readonly { readonly name: string }[];
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: { readonly Error: unknown };
    readonly responses: Readonly<Record<string, { description: string }>>;
  };
}

describe("GET /console/api/openapi.json", () => {
  let opened: TestConsole;
  let description: Described;

  beforeAll(async () => {
    opened = await openTestConsole();
    description = (await opened.call(undefined, "GET", "/openapi.json")).json;
  });
  afterAll(() => opened.stop());

  const operations = () =>
    Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );

  test("every route of the console is described, and no other below /console/api", () => {
    const routes = createConsoleApi(opened.parts)
      .routes.filter(({ method }) => METHODS.includes(method.toLowerCase()))
      .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, "{$1}")}`);
    const described = operations()
      .filter(({ path }) => path.startsWith("/console/"))
      .map(({ method, path }) => `${method} ${path}`);
    expect(described.sort()).toEqual([...new Set(routes)].sort());
  });

  test("every route has a summary of its own, a group, and an answer of success", () => {
    const lacking = operations().filter(({ operation: { summary, tags, responses } }) => {
      // A provider of sign-ins is answered by a way on for the browser.
      const isAnswered = Object.keys(responses).some((status) => status.startsWith("2") || status === "303");
      return !summary || !tags?.[0] || tags[0] === "Other" || !isAnswered;
    });
    expect(lacking.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
    const summaries = operations().map(({ operation }) => operation.summary);
    expect(summaries.filter((summary, place) => summaries.indexOf(summary) !== place)).toEqual([]);
  });

  test("a creation names the header that makes its repetition safe", () => {
    const { parameters = [] } = description.paths["/console/api/accounts/{account}/keys"]?.post ?? {};
    expect(parameters.map(({ name }) => name)).toEqual(["account", "idempotency-key"]);
  });

  test("an integer is described as an integer alone", () =>
    expect(JSON.stringify(description.paths)).not.toContain('"format":"integer"'));

  test("every described route outside of the console exists", async () => {
    const { url } = opened.gateway;
    for (const { path, method } of operations().filter((each) => !each.path.startsWith("/console/"))) {
      const response = await fetch(`${url}${path.replace(/\{\w+\}/g, "x")}`, {
        method: method.toUpperCase(),
      });
      expect(`${path} ${await response.text()}`).not.toContain("No route matches");
    }
  });

  test("every surface of the API for models is described", () => {
    const posted = operations().filter(
      ({ path, method }) => /^\/v1\/(?!key\/)/.test(path) && method === "post",
    );
    expect(posted.map(({ path }) => path).sort()).toEqual([
      "/v1/audio/speech",
      "/v1/audio/transcriptions",
      "/v1/audio/translations",
      "/v1/chat/completions",
      "/v1/embeddings",
      "/v1/images/edits",
      "/v1/images/generations",
      "/v1/images/variations",
      "/v1/messages",
      "/v1/messages/count_tokens",
      "/v1/moderations",
      "/v1/rerank",
      "/v1/responses",
      "/v1/responses/compact",
    ]);
  });

  test("every code of the contract is among the answers of a failure, and no other", () => {
    const { Error: schema } = description.components.schemas;
    expect(Object.values(ERRORS).map(({ code }) => code)).toEqual(expect.arrayContaining(CONTRACT));
    const named = Object.entries(description.components.responses)
      .filter(([name]) => name.startsWith("chat_"))
      .flatMap(([, { description: text }]) => text.split(", "));
    expect([...new Set(named)].sort()).toEqual([...CONTRACT].sort());
    for (const code of CONTRACT) expect(JSON.stringify(schema)).toContain(`"${code}"`);
  });

  test("every reference of the description leads to a part of it", () => {
    const references = [...JSON.stringify(description).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      ([, path]) => path ?? "",
    );
    expect(references.length).toBeGreaterThan(0);
    for (const reference of new Set(references)) {
      const found = reference
        .split("/")
        .reduce<unknown>((part, name) => (part as Record<string, unknown>)?.[name], description);
      expect(found, reference).toBeDefined();
    }
  });

  test("a route that needs a session says so, and a public one does not", () => {
    const { paths } = description;
    expect(paths["/console/api/me"]?.get?.security).not.toEqual([]);
    expect(paths["/console/api/setup"]?.get?.security).toEqual([]);
  });

  test("the description names no secret and no file of this machine", () => {
    const text = JSON.stringify(description);
    expect(text).not.toContain(process.cwd());
    expect(text).not.toMatch(/[sm]k-tg-[\w-]{43}/);
  });
});
