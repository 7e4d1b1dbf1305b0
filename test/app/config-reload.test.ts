import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startConfigReload } from "../../src/app/config-reload.ts";
import { type LiveConfig, loadWithSource } from "../../src/config/config.ts";
import type { Watcher } from "../../src/config/sources.ts";
import { configFolder } from "../config/temp-config.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { until } from "../support/until.ts";

const UPSTREAM = `upstreams: { up: { protocol: openai, base_url: https://up.example/v1, api_key: k } }`;

/** A file with these models. Each takes several lines, so that a partial file can be valid too. */
function yamlOf(ids: readonly string[], more = ""): string {
  const model = (id: string) => `  ${id}:
    { routes: [{ upstream: up, model: m }], context_window: 1000, max_output_tokens: 100,
      price: { input: "1", output: "2" } }
`;
  return `${UPSTREAM}\n${more}\nmodels:\n${ids.map(model).join("")}`;
}

interface Followed {
  readonly file: string;
  readonly folder: string;
  /** The log since the last call of `forget`. */
  logged(): string;
  forget(): void;
  readonly reloads: Watcher;
  /** The models of each applied configuration. */
  readonly applied: readonly (readonly string[])[];
  readonly latest: () => LiveConfig | undefined;
}

const running: Watcher[] = [];
afterAll(() => {
  for (const reloads of running.splice(0)) reloads.close();
});

/** Follows the tollgate.yaml of a folder like a gateway. */
function follow(folder: string): Followed {
  const log = createCapturedLog();
  let forgotten = 0;
  const configs: LiveConfig[] = [];
  const apply = (config: LiveConfig) => void configs.push(config);
  const reloads = startConfigReload({ loaded: loadWithSource({}, { folder }), apply, log });
  running.push(reloads);
  return {
    file: join(folder, "tollgate.yaml"),
    folder,
    logged: () => log.text().slice(forgotten),
    forget() {
      forgotten = log.text().length + 1;
      configs.length = 0;
    },
    reloads,
    get applied() {
      return configs.map(({ models }) => models.map(({ id }) => id));
    },
    latest: () => configs.at(-1),
  };
}

/** Like {@link follow}, but returns after the first reload: the watcher has to notice every later change. */
async function followOn(folder: string): Promise<Followed> {
  const file = join(folder, "tollgate.yaml");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, yamlOf(["early"]));
  const followed = follow(folder);
  writeFileSync(file, text);
  await untilLogged(followed, RELOADED);
  followed.forget();
  return followed;
}

/** Resolves when the log contains this text `count` times. */
async function untilLogged({ logged }: Followed, words: string, count = 1): Promise<void> {
  const explain = () => `The log does not contain "${words}": ${logged()}`;
  await until(() => logged().split(words).length > count, explain);
}

const REJECTED = "configuration rejected";
const RELOADED = "configuration reloaded";
const UNCHANGED = "configuration unchanged";

describe("a change of the file", () => {
  test.concurrent.each([
    ["that is written in place", (file: string) => writeFileSync(file, yamlOf(["a", "b"]))],
    [
      "that is renamed into place with an older modification time",
      (file: string) => {
        writeFileSync(`${file}.new`, yamlOf(["a", "b"]));
        utimesSync(`${file}.new`, 1_700_000_000, 1_700_000_000);
        renameSync(`${file}.new`, file);
      },
    ],
  ])("%s is applied", async (_how, change) => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    change(followed.file);
    await untilLogged(followed, RELOADED);
    expect(followed.applied).toEqual([["a", "b"]]);
    expect(followed.logged()).toContain('"models":{"added":["b"]}');
  });

  test.concurrent("of a symbolic link to the file, as in a Kubernetes volume, is applied", async () => {
    const folder = configFolder();
    for (const [version, ids] of [
      ["v1", ["a"]],
      ["v2", ["b"]],
    ] as const) {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, "tollgate.yaml"), yamlOf(ids));
    }
    symlinkSync("v1", join(folder, "..data"));
    symlinkSync("..data/tollgate.yaml", join(folder, "tollgate.yaml"));
    const followed = await followOn(folder);
    symlinkSync("v2", join(folder, "..data_new"));
    renameSync(join(folder, "..data_new"), join(folder, "..data"));
    await untilLogged(followed, RELOADED);
    expect(followed.applied).toEqual([["b"]]);
    expect(followed.logged()).toContain('"models":{"added":["b"],"removed":["a"]}');
  });

  test.concurrent("names each price and cost with its old and its new value", async () => {
    const priced = (price: string, cost: string) =>
      `${UPSTREAM}\nmodels:\n  a: { routes: [{ upstream: up, model: m }], context_window: 1000, max_output_tokens: 100, price: { input: "${price}", output: "2" }${cost} }\n`;
    const followed = await followOn(configFolder(priced("1", "")));
    writeFileSync(followed.file, priced("1.50", ', cost: { input: "1", output: "1" }'));
    await untilLogged(followed, RELOADED);
    const line =
      followed
        .logged()
        .split("\n")
        .find((each) => each.includes(RELOADED)) ?? "";
    const { prices } = JSON.parse(line);
    expect(prices.named).toContain("a at up: price.input 1.00 → 1.50");
    expect(prices.named).toContain("a at up: cost.input none → 1.00");
    expect(prices.named).not.toContainEqual(expect.stringContaining("price.output"));
    expect(prices.count).toBe(prices.named.length);
  });

  test.concurrent("that is written in pieces is applied once it is complete", async () => {
    const followed = await followOn(configFolder(yamlOf(["a", "b", "c"])));
    const whole = yamlOf(["a", "b", "c", "d"]);
    const pieces = whole.split("\n  ");
    for (let count = 1; count < pieces.length; count++) {
      writeFileSync(followed.file, `${pieces.slice(0, count).join("\n  ")}\n`);
      await Bun.sleep(100);
    }
    writeFileSync(followed.file, whole);
    await untilLogged(followed, RELOADED);
    expect(followed.applied).toEqual([["a", "b", "c", "d"]]);
    expect(followed.logged()).not.toContain(REJECTED);
  });

  test.concurrent("without effect on the configuration is not logged, and the next change is applied", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    utimesSync(followed.file, new Date(), new Date());
    await Bun.sleep(1_600);
    writeFileSync(followed.file, `# a comment\n${yamlOf(["a"])}`);
    await Bun.sleep(1_600);
    expect(followed.logged()).toBe("");
    writeFileSync(followed.file, yamlOf(["b"]));
    await untilLogged(followed, RELOADED);
    expect(followed.logged().split("\n")).toHaveLength(1);
  });

  test.concurrent("is logged with the changed keys and with the keys that need a restart", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    const more = [
      "limits: { requests_per_minute: 7 }",
      "account_limits: { body_bytes_in_flight: 40000000 }",
      "http: { cors_origins: [https://app.example.com], idle_s: 9 }",
      "drain_s: 3",
      "billing: { hold_ttl_s: 9 }",
    ].join("\n");
    writeFileSync(followed.file, yamlOf(["a"], more).replace("api_key: k", "api_key: canary"));
    await untilLogged(followed, "need a restart");
    const lines = followed
      .logged()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
    expect(lines).toEqual([
      {
        level: "info",
        models: {},
        upstreams: { changed: ["up"] },
        settings: ["limits", "http.cors_origins", "drain_s"],
        event: RELOADED,
      },
      {
        level: "warn",
        settings: ["account_limits.body_bytes_in_flight", "http.idle_s", "billing.hold_ttl_s"],
        event: "configuration changes need a restart",
      },
    ]);
    const corsOrigins = ["https://app.example.com"];
    expect(followed.latest()).toMatchObject({
      keyLimits: { requestsPerMinute: 7 },
      corsOrigins,
      drainMs: 3_000,
    });
  });

  test.concurrent("to a file with problems is rejected as a whole until the problems are gone", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    const bad = yamlOf(["a", "b"], "limits: { requests_per_minute: canary }")
      .replace("api_key: k", `api_key: \${NOT_THERE}`)
      .replace("https://up", "http://canary");
    writeFileSync(followed.file, bad);
    await untilLogged(followed, REJECTED);
    expect(followed.applied).toEqual([]);
    const { problems } = JSON.parse(followed.logged());
    expect(problems).toHaveLength(3);
    expect(followed.logged()).not.toContain("canary");
    writeFileSync(followed.file, yamlOf(["a"]));
    await untilLogged(followed, UNCHANGED);
    writeFileSync(followed.file, yamlOf(["b"]));
    await untilLogged(followed, RELOADED);
  });
});

describe("a file that", () => {
  test.concurrent("is removed changes nothing, and is applied once it exists again", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    rmSync(followed.file);
    await untilLogged(followed, "tollgate.yaml: does not exist");
    expect(followed.applied).toEqual([]);
    writeFileSync(followed.file, yamlOf(["a", "b"]));
    await untilLogged(followed, RELOADED);
    expect(followed.applied).toEqual([["a", "b"]]);
  });

  test.concurrent.each(["", "# all gone\n", `${UPSTREAM}\nmodels: {}\n`, `${UPSTREAM}\n`])(
    "has lost all of its models (%j) is rejected and not replaced by the demo",
    async (text) => {
      const followed = await followOn(configFolder(yamlOf(["a"])));
      writeFileSync(followed.file, text);
      followed.reloads.request();
      await untilLogged(followed, "models: have all been removed");
      expect(followed.applied).toEqual([]);
    },
  );

  test.concurrent("appears after a start without one is applied, and its removal is rejected", async () => {
    const followed = follow(configFolder());
    followed.reloads.request();
    await untilLogged(followed, UNCHANGED);
    writeFileSync(followed.file, yamlOf(["a"]));
    await untilLogged(followed, RELOADED);
    expect(followed.logged()).toContain('"models":{"added":["a"],"removed":["demo"]}');
    rmSync(followed.file);
    await untilLogged(followed, REJECTED);
    expect(followed.latest()?.models.map(({ id }) => id)).toEqual(["a"]);
  });

  test.concurrent("changes between loading and the first poll is applied", async () => {
    const folder = configFolder(yamlOf(["a"]));
    const loaded = loadWithSource({}, { folder });
    writeFileSync(join(folder, "tollgate.yaml"), yamlOf(["b"]));
    const { promise, resolve } = Promise.withResolvers<LiveConfig>();
    running.push(startConfigReload({ loaded, apply: resolve, log: createCapturedLog() }));
    expect((await promise).models.map(({ id }) => id)).toEqual(["b"]);
  });
});

describe("a request to read the file", () => {
  test.concurrent("is logged also when nothing has changed", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    followed.reloads.request();
    await untilLogged(followed, UNCHANGED);
    writeFileSync(followed.file, yamlOf(["b"]));
    followed.reloads.request();
    await untilLogged(followed, RELOADED);
    expect(followed.applied.at(-1)).toEqual(["b"]);
  });

  test.concurrent("that is repeated many times applies the last content", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    for (let index = 0; index < 50; index++) {
      writeFileSync(followed.file, yamlOf([`m${index}`]));
      followed.reloads.request();
      if (index % 7 === 0) await Bun.sleep(1);
    }
    const deadline = performance.now() + 120_000;
    while (followed.applied.at(-1)?.[0] !== "m49" && performance.now() < deadline) await Bun.sleep(5);
    expect(followed.applied.at(-1)).toEqual(["m49"]);
    expect(followed.logged()).not.toContain(REJECTED);
  });

  test.concurrent("after close does nothing", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    followed.reloads.close();
    writeFileSync(followed.file, yamlOf(["b"]));
    followed.reloads.request();
    await Bun.sleep(1_500);
    expect(followed.applied).toEqual([]);
    expect(followed.logged()).toBe("");
  });
});
