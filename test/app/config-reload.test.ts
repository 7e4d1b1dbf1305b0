import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keepReloading } from "../../src/app/config-reload.ts";
import { type LiveConfig, loadWithSource } from "../../src/config/config.ts";
import type { Follower } from "../../src/config/follow-source.ts";
import { configFolder } from "../config/temp-config.ts";
import { createCapturedLog } from "../support/captured-log.ts";

const UPSTREAM = `upstreams: { up: { protocol: openai, base_url: https://up.example/v1, api_key: k } }`;

/** A file with these models; each is three lines, so that a half of it is a valid file too. */
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
  /** What was logged since it was told to forget. */
  logged(): string;
  forget(): void;
  readonly reloads: Follower;
  /** The models of each configuration that was taken over. */
  readonly applied: readonly (readonly string[])[];
  readonly latest: () => LiveConfig | undefined;
}

const running: Follower[] = [];
afterAll(() => {
  for (const reloads of running.splice(0)) reloads.close();
});

/** Follows the ./tollgate.yaml of a folder, as the gateway does. */
function follow(folder: string): Followed {
  const log = createCapturedLog();
  let forgotten = 0;
  const configs: LiveConfig[] = [];
  const apply = (config: LiveConfig) => void configs.push(config);
  const reloads = keepReloading({ loaded: loadWithSource({}, { folder }), apply, log });
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

/** The same once it has looked for what has changed since the start: what follows it has to notice. */
async function followOn(folder: string): Promise<Followed> {
  const file = join(folder, "tollgate.yaml");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, yamlOf(["early"]));
  const followed = follow(folder);
  writeFileSync(file, text);
  await untilLogged(followed, TAKEN_OVER);
  followed.forget();
  return followed;
}

/** Resolves when the log has so many lines with these words. */
async function untilLogged({ logged }: Followed, words: string, count = 1): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (logged().split(words).length <= count) {
    if (performance.now() > deadline) throw new Error(`The log does not say "${words}": ${logged()}`);
    await Bun.sleep(10);
  }
}

const REFUSED = "configuration refused";
const TAKEN_OVER = "configuration taken over";
const NOTHING = "nothing has changed";

describe("a change of the file", () => {
  test.concurrent.each([
    ["that is written in place", (file: string) => writeFileSync(file, yamlOf(["a", "b"]))],
    [
      "that comes by rename, older than the one before",
      (file: string) => {
        writeFileSync(`${file}.new`, yamlOf(["a", "b"]));
        utimesSync(`${file}.new`, 1_700_000_000, 1_700_000_000);
        renameSync(`${file}.new`, file);
      },
    ],
  ])("%s is taken over", async (_how, change) => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    change(followed.file);
    await untilLogged(followed, TAKEN_OVER);
    expect(followed.applied).toEqual([["a", "b"]]);
    expect(followed.logged()).toContain('"models":{"added":["b"]}');
  });

  test.concurrent("by a link that points elsewhere, as Kubernetes mounts it, is taken over", async () => {
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
    await untilLogged(followed, TAKEN_OVER);
    expect(followed.applied).toEqual([["b"]]);
    expect(followed.logged()).toContain('"models":{"added":["b"],"removed":["a"]}');
  });

  test.concurrent("that comes in pieces is taken over when it is whole", async () => {
    const followed = await followOn(configFolder(yamlOf(["a", "b", "c"])));
    const whole = yamlOf(["a", "b", "c", "d"]);
    const pieces = whole.split("\n  ");
    for (let count = 1; count < pieces.length; count++) {
      writeFileSync(followed.file, `${pieces.slice(0, count).join("\n  ")}\n`);
      await Bun.sleep(100);
    }
    writeFileSync(followed.file, whole);
    await untilLogged(followed, TAKEN_OVER);
    expect(followed.applied).toEqual([["a", "b", "c", "d"]]);
    expect(followed.logged()).not.toContain(REFUSED);
  });

  test.concurrent("of no consequence says nothing, and the next one is seen", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    utimesSync(followed.file, new Date(), new Date());
    await Bun.sleep(1_600);
    writeFileSync(followed.file, `# a comment\n${yamlOf(["a"])}`);
    await Bun.sleep(1_600);
    expect(followed.logged()).toBe("");
    writeFileSync(followed.file, yamlOf(["b"]));
    await untilLogged(followed, TAKEN_OVER);
    expect(followed.logged().split("\n")).toHaveLength(1);
  });

  test.concurrent("names what is different, and what waits for the next start", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    const more = [
      "limits: { requests_per_minute: 7 }",
      "account_limits: { body_bytes_in_flight: 40000000 }",
      "http: { cors_origins: [https://app.example.com], idle_s: 9 }",
      "drain_s: 3",
      "billing: { hold_ttl_s: 9 }",
    ].join("\n");
    writeFileSync(followed.file, yamlOf(["a"], more).replace("api_key: k", "api_key: canary"));
    await untilLogged(followed, "wait for the next start");
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
        event: TAKEN_OVER,
      },
      {
        level: "warn",
        settings: ["account_limits.body_bytes_in_flight", "http.idle_s", "billing.hold_ttl_s"],
        event: "settings that wait for the next start",
      },
    ]);
    const corsOrigins = ["https://app.example.com"];
    expect(followed.latest()).toMatchObject({
      keyLimits: { requestsPerMinute: 7 },
      corsOrigins,
      drainMs: 3_000,
    });
  });

  test.concurrent("to a file with problems is refused whole, until it is good again", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    const bad = yamlOf(["a", "b"], "limits: { requests_per_minute: canary }")
      .replace("api_key: k", `api_key: \${NOT_THERE}`)
      .replace("https://up", "http://canary");
    writeFileSync(followed.file, bad);
    await untilLogged(followed, REFUSED);
    expect(followed.applied).toEqual([]);
    const { problems } = JSON.parse(followed.logged());
    expect(problems).toHaveLength(3);
    expect(followed.logged()).not.toContain("canary");
    writeFileSync(followed.file, yamlOf(["a"]));
    await untilLogged(followed, NOTHING);
    writeFileSync(followed.file, yamlOf(["b"]));
    await untilLogged(followed, TAKEN_OVER);
  });
});

describe("a file that", () => {
  test.concurrent("vanishes changes nothing, and is taken over when it is back", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    rmSync(followed.file);
    await untilLogged(followed, "tollgate.yaml: is not there");
    expect(followed.applied).toEqual([]);
    writeFileSync(followed.file, yamlOf(["a", "b"]));
    await untilLogged(followed, TAKEN_OVER);
    expect(followed.applied).toEqual([["a", "b"]]);
  });

  test.concurrent.each(["", "# all gone\n", `${UPSTREAM}\nmodels: {}\n`, `${UPSTREAM}\n`])(
    "has no models any more (%j) does not become the demo",
    async (text) => {
      const followed = await followOn(configFolder(yamlOf(["a"])));
      writeFileSync(followed.file, text);
      followed.reloads.request();
      await untilLogged(followed, "models: are all gone");
      expect(followed.applied).toEqual([]);
    },
  );

  test.concurrent("comes to a gateway that was started without one is taken over, and does not go again", async () => {
    const followed = follow(configFolder());
    followed.reloads.request();
    await untilLogged(followed, NOTHING);
    writeFileSync(followed.file, yamlOf(["a"]));
    await untilLogged(followed, TAKEN_OVER);
    expect(followed.logged()).toContain('"models":{"added":["a"],"removed":["demo"]}');
    rmSync(followed.file);
    await untilLogged(followed, REFUSED);
    expect(followed.latest()?.models.map(({ id }) => id)).toEqual(["a"]);
  });

  test.concurrent("changes between its reading and the first look is taken over", async () => {
    const folder = configFolder(yamlOf(["a"]));
    const loaded = loadWithSource({}, { folder });
    writeFileSync(join(folder, "tollgate.yaml"), yamlOf(["b"]));
    const { promise, resolve } = Promise.withResolvers<LiveConfig>();
    running.push(keepReloading({ loaded, apply: resolve, log: createCapturedLog() }));
    expect((await promise).models.map(({ id }) => id)).toEqual(["b"]);
  });
});

describe("a request to read the file", () => {
  test.concurrent("is answered at once, also when nothing has changed", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    followed.reloads.request();
    await untilLogged(followed, NOTHING);
    writeFileSync(followed.file, yamlOf(["b"]));
    followed.reloads.request();
    await untilLogged(followed, TAKEN_OVER);
    expect(followed.applied.at(-1)).toEqual(["b"]);
  });

  test.concurrent("that comes many times over reads what is there at the end", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    for (let index = 0; index < 50; index++) {
      writeFileSync(followed.file, yamlOf([`m${index}`]));
      followed.reloads.request();
      if (index % 7 === 0) await Bun.sleep(1);
    }
    const deadline = performance.now() + 120_000;
    while (followed.applied.at(-1)?.[0] !== "m49" && performance.now() < deadline) await Bun.sleep(5);
    expect(followed.applied.at(-1)).toEqual(["m49"]);
    expect(followed.logged()).not.toContain(REFUSED);
  });

  test.concurrent("after the end does nothing", async () => {
    const followed = await followOn(configFolder(yamlOf(["a"])));
    followed.reloads.close();
    writeFileSync(followed.file, yamlOf(["b"]));
    followed.reloads.request();
    await Bun.sleep(1_500);
    expect(followed.applied).toEqual([]);
    expect(followed.logged()).toBe("");
  });
});
