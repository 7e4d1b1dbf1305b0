import { describe, expect, test } from "bun:test";
import { loadYaml, problemsOf } from "./temp-config.ts";

describe("an upstream without base_url", () => {
  test("has the public address of its protocol", () => {
    const { upstreams } = loadYaml(`
upstreams:
  o: { protocol: openai, api_key: k }
  a: { protocol: anthropic, api_key: k }
`);
    expect(upstreams.map(({ baseUrl }) => baseUrl)).toEqual([
      "https://api.openai.com/v1",
      "https://api.anthropic.com",
    ]);
  });
});

describe("an upstream without api_key", () => {
  test("is a problem of a protocol that needs one", () => {
    expect(problemsOf("upstreams: { o: { protocol: openai } }")).toEqual([
      "upstreams.o.api_key: is missing, expected a key without spaces or line breaks",
    ]);
  });

  test("is one problem when the key has a wrong form", () =>
    expect(problemsOf('upstreams: { o: { protocol: openai, api_key: "a b" } }')).toHaveLength(1));
});

describe("an upstream at AWS Bedrock", () => {
  test("has the endpoint of its region, and needs no key", () => {
    const { upstreams } = loadYaml(`
upstreams:
  us: { protocol: bedrock, region: us-gov-west-1, profile: team, api: converse }
  cn: { protocol: bedrock, region: cn-north-1, api_key: k }
  own: { protocol: bedrock, region: eu-west-1, base_url: "https://vpce.example/" }
`);
    expect(upstreams.map(({ baseUrl }) => baseUrl)).toEqual([
      "https://bedrock-runtime.us-gov-west-1.amazonaws.com",
      "https://bedrock-runtime.cn-north-1.amazonaws.com.cn",
      "https://vpce.example",
    ]);
    expect(upstreams[0]).toMatchObject({
      apiKey: "",
      bedrock: { region: "us-gov-west-1", profile: "team", api: "converse" },
    });
  });

  test("needs a region, and has no keys of other protocols", () => {
    expect(problemsOf("upstreams: { b: { protocol: bedrock, responses: true } }")).toEqual([
      "upstreams.b.responses: is not supported by that protocol, expected protocol: openai or azure, or no such key",
      "upstreams.b.region: is missing, expected a region of AWS such as us-east-1",
    ]);
    expect(problemsOf("upstreams: { b: { protocol: bedrock, region: everywhere, api: chat } }")).toHaveLength(
      2,
    );
    expect(problemsOf("upstreams: { o: { protocol: openai, api_key: k, region: us-east-1 } }")).toEqual([
      "upstreams.o.region: is not supported by that protocol, expected protocol: bedrock, or no such key",
    ]);
  });
});
