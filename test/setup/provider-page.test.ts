import { beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProviderPage, type ProviderPageParts } from "../../src/setup/provider-page.ts";
import type { UpstreamSetup } from "../../src/setup/provider-setup.ts";
import { tempFolder } from "../support/temp-folder.ts";

let folder = "";
beforeEach(() => {
  folder = tempFolder();
});

/** A page whose provider accepts the key "good" and lists two models. */
function openPage(more: Partial<ProviderPageParts> = {}) {
  const called: UpstreamSetup[] = [];
  const page = createProviderPage({
    place: { folder, configPath: join(folder, "tollgate.yaml"), envPath: join(folder, ".env") },
    hasPeers: async () => false,
    now: () => Date.parse("2026-11-27T00:00:00Z"),
    async check(upstream, values) {
      called.push(upstream);
      const isGood = Object.values(values).includes("good");
      if (!isGood) return { state: "refused", problem: "refuses the key with status 401" };
      return { state: "accepted", models: ["claude-sonnet-4-5", "claude-haiku-4-5"] };
    },
    ...more,
  });
  return { page, called };
}

const ANTHROPIC = { provider: "anthropic", key: "good" };
const SONNET = "anthropic/claude-sonnet-4-5";
const read = (name: string) => readFileSync(join(folder, name), "utf8");

test("a proved provider is written with its chosen models, and its key to .env alone", async () => {
  const { page } = openPage();
  const proved = await page.prove(ANTHROPIC);
  expect(proved.models.map(({ id }) => id)).toEqual(["anthropic/claude-haiku-4-5", SONNET]);
  const added = await page.add(ANTHROPIC, [SONNET]);
  expect(added).toEqual({ state: "written", upstream: "anthropic", models: ["claude-sonnet-4-5"] });
  expect(read(".env")).toBe("ANTHROPIC_API_KEY=good\n");
  expect(read("tollgate.yaml")).not.toContain("good");
  const { providers } = await page.state();
  expect(providers.find(({ name }) => name === "anthropic")?.upstream).toBe("anthropic");
  const again = await page.add({ provider: "anthropic", key: undefined }, ["anthropic/claude-haiku-4-5"]);
  expect(again).toMatchObject({ state: "written", models: ["claude-haiku-4-5"] });
});

describe("no caller chooses what is called", () => {
  test.each(["http://169.254.169.254", "own", "__proto__", ""])(
    "the provider %p is refused without a call",
    async (provider) => {
      const { page, called } = openPage();
      expect(await page.prove({ provider, key: "good" })).toMatchObject({ check: { state: "refused" } });
      expect(await page.add({ provider, key: "good" }, [SONNET])).toMatchObject({ state: "refused" });
      expect(called).toEqual([]);
    },
  );

  test.each(["evil.example/", "a.b", "u@h", "a:1", "../x", "169.254.169.254", "a#", "a%2e", "", undefined])(
    "the place %p of a cloud is refused without a call",
    async (place) => {
      const { page, called } = openPage();
      for (const provider of ["azure", "bedrock", "vertex"]) {
        const wish = { provider, key: "good", place };
        expect(await page.prove(wish)).toMatchObject({ check: { state: "refused" } });
        expect(await page.add(wish, [])).toMatchObject({ state: "refused" });
      }
      expect(called).toEqual([]);
    },
  );

  test("every offered provider has a public address over https of the catalog, or that of its protocol", async () => {
    const { page } = openPage();
    const { providers } = await page.state();
    expect(providers.length).toBeGreaterThan(10);
    const { called } = openPage();
    for (const { name } of providers) {
      const one = openPage();
      await one.page.prove({ provider: name, key: "good", place: "own" });
      called.push(...one.called);
    }
    expect(called.length).toBe(providers.length);
    const addresses = called
      .map(({ entry }) => Object(entry).base_url ?? "https:")
      .filter((address) => address !== `\${AZURE_OPENAI_ENDPOINT}`);
    expect(addresses.filter((address) => !String(address).startsWith("https:"))).toEqual([]);
  });
});

test("a resource of Azure becomes an address in its domain, kept in .env with the key", async () => {
  const check: ProviderPageParts["check"] = async (_, values) => {
    const isOwn = values.AZURE_OPENAI_ENDPOINT === "https://own-1.openai.azure.com";
    return isOwn ? { state: "accepted", models: ["gpt-4.1"] } : { state: "refused", problem: "is another" };
  };
  const { page } = openPage({ check });
  const { providers } = await page.state();
  expect(providers.find(({ name }) => name === "azure")).toMatchObject({ place: "resource" });
  const added = await page.add({ provider: "azure", key: "good", place: "own-1" }, ["azure/gpt-4.1"]);
  expect(added).toMatchObject({ state: "written", models: ["gpt-4.1"] });
  expect(read(".env")).toBe(
    "AZURE_OPENAI_ENDPOINT=https://own-1.openai.azure.com\nAZURE_OPENAI_API_KEY=good\n",
  );
});

test("a refused key, a model that is not offered and a key that .env cannot hold write nothing", async () => {
  const { page } = openPage();
  expect(await page.add({ ...ANTHROPIC, key: "bad" }, [SONNET])).toMatchObject({ state: "refused" });
  expect(await page.add(ANTHROPIC, ["openai/gpt-4.1"])).toMatchObject({ state: "refused" });
  const hostile = openPage({ check: async () => ({ state: "accepted", models: undefined }) });
  const added = await hostile.page.add({ ...ANTHROPIC, key: "x\nLEDGER_TOKEN=y" }, [SONNET]);
  expect(added).toMatchObject({ state: "refused" });
  expect([".env", "tollgate.yaml"].filter((name) => existsSync(join(folder, name)))).toEqual([]);
});

test("beside other gateways the lines to paste are returned, without the key", async () => {
  const { page } = openPage({ hasPeers: async () => true });
  expect((await page.state()).obstacle).toBe("several_gateways");
  const added = await page.add(ANTHROPIC, [SONNET]);
  expect(added).toMatchObject({ state: "to_paste", variables: ["ANTHROPIC_API_KEY"] });
  expect(JSON.stringify(added)).toContain("claude-sonnet-4-5: { known: anthropic/claude-sonnet-4-5");
  expect(JSON.stringify(added)).not.toContain("good");
  expect(existsSync(join(folder, ".env"))).toBe(false);
});

test("a variable of .env is not replaced, and a file with problems is left as it is", async () => {
  writeFileSync(join(folder, ".env"), "ANTHROPIC_API_KEY=other\n");
  const { page } = openPage();
  const added = await page.add(ANTHROPIC, [SONNET]);
  expect(added).toMatchObject({ state: "refused", problem: expect.stringContaining("has another") });
  expect(read(".env")).toBe("ANTHROPIC_API_KEY=other\n");
  writeFileSync(join(folder, "tollgate.yaml"), "upstreams: [");
  expect((await page.state()).obstacle).toBe("unreadable");
});
