import { describe, expect, test } from "bun:test";
import type { AzureConfig } from "../../src/upstream/upstream.ts";
import { loadYaml, problemsOf } from "./temp-config.ts";

const BASE = "base_url: https://r.openai.azure.com";
/** The upstream of a configuration that has one, on Azure. */
const loadAzure = (members: string) => loadYaml(upstream(members)).upstreams[0] as AzureConfig;
const upstream = (members: string) => `upstreams: { az: { protocol: azure, ${members} } }`;

describe("an upstream of Azure", () => {
  test("has the v1 form, with responses, and a key", () => {
    const [read] = loadYaml(upstream(`${BASE}, api_key: k`)).upstreams;
    expect(read).toMatchObject({
      apiKey: "k",
      apiVersion: undefined,
      entraScope: undefined,
      hasResponses: true,
    });
  });

  test("has the deployments form, without responses, under a version", () => {
    const [read] = loadYaml(upstream(`${BASE}, api_key: k, api_version: "2024-10-21"`)).upstreams;
    expect(read).toMatchObject({ apiVersion: "2024-10-21", hasResponses: false });
  });

  test("may turn responses off in the v1 form", () => {
    const read = loadAzure(`${BASE}, api_key: k, responses: false`);
    expect(read.hasResponses).toBe(false);
  });

  test("takes tokens of Entra ID for the public cloud, or for another one", () => {
    const read = loadAzure(`${BASE}, entra: true`);
    expect(read.entraScope).toBe("https://cognitiveservices.azure.com/.default");
    const scope = "https://cognitiveservices.azure.us/.default";
    expect(loadAzure(`${BASE}, entra: true, entra_scope: "${scope}"`).entraScope).toBe(scope);
  });

  test.each([
    ["api_key: k", "base_url: is missing"],
    [BASE, "api_key: is missing, expected api_key, or entra: true"],
    [`${BASE}, entra: false`, "api_key: is missing"],
    [`${BASE}, api_key: k, entra: true`, "entra: is set beside api_key"],
    [`${BASE}, api_key: k, entra_scope: "https://a.b/.default"`, "entra_scope: has no entra"],
    [`${BASE}, entra: true, entra_scope: cognitive`, "entra_scope: has a wrong value"],
    [`${BASE}, api_key: k, api_version: latest`, "api_version: has a wrong value"],
    [`${BASE}, api_key: k, api_version: "2024-06-01"`, "api_version: reports no usage in streams"],
    [`${BASE}, api_key: k, api_version: "2024-10-21", responses: true`, "responses: needs the v1 form"],
    [`${BASE}, api_key: k, anthropic_betas: [a]`, "anthropic_betas: is not supported by that protocol"],
  ])("with %s is a problem: %s", (members, problem) => {
    expect(problemsOf(upstream(members))).toEqual([expect.stringContaining(`upstreams.az.${problem}`)]);
  });

  test.each(["entra: true", 'api_version: "2024-10-21"', 'entra_scope: "https://a.b/.default"'])(
    "alone has the key %s",
    (member) => {
      const yaml = `upstreams: { o: { protocol: openai, api_key: k, ${member} } }`;
      expect(problemsOf(yaml)).toEqual([expect.stringContaining("protocol: azure, or no such key")]);
    },
  );
});
