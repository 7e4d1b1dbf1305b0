import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig, loadLedgerConfig, loadStorageConfig } from "../../src/config/config.ts";
import { GATEWAY_SECRETS } from "../../src/config/secrets.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { configFolder, problemsOf } from "./temp-config.ts";

const CANARY = "canary-of-a-secret";
const TOKEN = "a-token-of-16-ch";
const YAML = `upstreams: { up: { protocol: openai, base_url: https://up.example, api_key: "\${UP_KEY}" } }\n`;

/** Creates a folder with a tollgate.yaml and a file `secret` with this content. */
function folderWith(secret: string | Uint8Array): string {
  const folder = configFolder(YAML);
  writeFileSync(join(folder, "secret"), secret);
  return folder;
}

function keyOf(secret: string, environment: Record<string, string> = { UP_KEY_FILE: "secret" }): unknown {
  return loadConfig(environment, { folder: folderWith(secret) }).upstreams[0]?.apiKey;
}

/** Returns the problems with a relative path to the file `secret`, or to the folder that holds it. */
function problemsWith(environment: Record<string, string>, secret: string | Uint8Array | undefined) {
  const folder = configFolder(YAML);
  if (secret !== undefined) writeFileSync(join(folder, "secret"), secret);
  mkdirSync(join(folder, "folder"));
  const absolute = Object.entries(environment).map(([name, text]) => [
    name,
    name.endsWith("_FILE") ? join(folder, text) : text,
  ]);
  return problemsOf(YAML, Object.fromEntries(absolute));
}

describe("a placeholder whose variable is not set", () => {
  test.each([
    ["k-1", "k-1"],
    ["k-1\n", "k-1"],
    ["k-1\r\n", "k-1"],
  ])("takes the value of NAME_FILE without one trailing line end: %p", (text, expected) => {
    expect(keyOf(text)).toBe(expected);
  });

  test.each(["k-1\n\n", " k-1", "k-1 \n"])("takes no more than one line end away: %p", (text) => {
    expect(() => keyOf(text)).toThrow("upstreams.up.api_key: has a wrong value");
  });

  test("takes the environment when NAME_FILE is empty", () =>
    expect(keyOf("unused", { UP_KEY: "k-2", UP_KEY_FILE: "" })).toBe("k-2"));

  test.each([
    ["does not exist", { UP_KEY_FILE: "secret" }, undefined],
    ["is empty", { UP_KEY_FILE: "secret" }, ""],
    ["is empty", { UP_KEY_FILE: "secret" }, "\n"],
    ["names a folder", { UP_KEY_FILE: "folder" }, undefined],
    ["is larger than 64 KiB", { UP_KEY_FILE: "secret" }, CANARY.repeat(4_000)],
    ["is not UTF-8", { UP_KEY_FILE: "secret" }, new Uint8Array([0x61, 0xff])],
    ["is set beside UP_KEY", { UP_KEY_FILE: "secret", UP_KEY: `${CANARY}-2` }, CANARY],
  ] as const)("is a problem when its file %s", (words, environment, secret) => {
    const problems = problemsWith(environment, secret);
    expect(problems).toEqual([
      expect.stringMatching(/^upstreams\.up\.api_key: needs UP_KEY, but UP_KEY_FILE /),
    ]);
    expect(problems[0]).toContain(words);
    expect(problems.join()).not.toContain(CANARY);
  });

  test("is one problem without any file", () => {
    expect(problemsOf(YAML, {})).toEqual([
      "upstreams.up.api_key: needs UP_KEY, which is not set or empty, expected it in the environment",
    ]);
  });
});

describe("a secret of the environment", () => {
  const VALUES: Readonly<Record<string, string>> = {
    DATABASE_URL: "postgres://u:p@h/d",
    REDIS_URL: "redis://:p@h",
    LEDGER_TOKEN: TOKEN,
    SMTP_URL: "smtp://u:p@h",
    STRIPE_SECRET_KEY: "sk_test_1",
    STRIPE_WEBHOOK_SECRET: "whsec_1",
    RECORDING_KEYS: Buffer.alloc(32, 1).toString("base64"),
    SEALING_KEYS: Buffer.alloc(32, 2).toString("base64"),
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=x",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: "authorization=x",
  };

  test("is read from its file, as if it were in the environment", () => {
    expect(Object.keys(VALUES).sort()).toEqual([...GATEWAY_SECRETS].sort());
    const folder = configFolder();
    const files = Object.entries(VALUES).map(([name, text]) => {
      writeFileSync(join(folder, name), `${text}\n`);
      return [`${name}_FILE`, name] as const;
    });
    const more = { MAIL_FROM: "a@b.example" };
    const fromFiles = loadConfig({ ...Object.fromEntries(files), ...more }, { folder });
    expect(fromFiles).toEqual(loadConfig({ ...VALUES, ...more }, { folder }));
    expect(fromFiles.ledger.tokens).toEqual([TOKEN]);
    const database = { database: { dialect: "postgres", url: VALUES.DATABASE_URL } };
    expect(loadStorageConfig(Object.fromEntries(files), { folder })).toMatchObject(database);
    expect(loadLedgerConfig(Object.fromEntries(files), { folder }).config).toMatchObject(database);
  });

  test.each([...GATEWAY_SECRETS])("%s is a problem by name with a file that cannot be used", (name) => {
    const environment = { [`${name}_FILE`]: "/nowhere/secret" };
    expect(problemsOf(undefined, environment)).toEqual([
      `${name}_FILE: names a file that does not exist, expected the path of a file that holds ${name}`,
    ]);
    const both = { ...environment, [name]: VALUES[name] ?? "", MAIL_FROM: "a@b.example" };
    expect(problemsOf(undefined, both)).toEqual([
      `${name}_FILE: is set beside ${name}, expected one of the two`,
    ]);
  });

  test("that a command does not use is not read by it", () =>
    expect(loadStorageConfig({ SMTP_URL_FILE: "/nowhere" }, { folder: "/" }).database.dialect).toBe(
      "sqlite",
    ));

  test("is a problem without its content when the content is wrong", () => {
    const problems = problemsWith({ LEDGER_TOKEN_FILE: "secret" }, `${CANARY} has a blank\n`);
    expect(problems).toEqual([
      "LEDGER_TOKEN: is not a token, expected at least 16 visible ASCII characters, or two such lines",
      expect.stringMatching(/^upstreams/),
    ]);
    expect(problems.join()).not.toContain(CANARY);
  });
});

test("a ledger token may be two lines, of which the first is sent and both are accepted", () => {
  const two = `${TOKEN}-new\n${TOKEN}-old\n`;
  const folder = folderWith(two);
  expect(loadStorageConfig({ LEDGER_TOKEN_FILE: "secret" }, { folder }).ledger.tokens).toEqual([
    `${TOKEN}-new`,
    `${TOKEN}-old`,
  ]);
  expect(() => loadStorageConfig({ LEDGER_TOKEN_FILE: "secret" }, { folder: folderWith(two + two) })).toThrow(
    "LEDGER_TOKEN: is not a token",
  );
});

test("every command reads the secrets of files", async () => {
  const folder = configFolder();
  writeFileSync(join(folder, "url"), "sqlite:./elsewhere.db\n");
  const environment = { DATABASE_URL_FILE: "url" };
  const created = await runTollgate(folder, ["account", "create", "--name", "acme", "--json"], environment);
  expect(created.json()).toMatchObject({ name: "acme" });
  const listed = await runTollgate(folder, ["account", "list", "--json"], {
    DATABASE_URL: "sqlite:./elsewhere.db",
  });
  expect(listed.json()).toMatchObject({ accounts: [{ name: "acme" }] });
  const checked = await runTollgate(folder, ["check", "--json"], { DATABASE_URL_FILE: "/nowhere" });
  expect(checked.json()).toMatchObject({ problems: [expect.stringMatching(/^DATABASE_URL_FILE: /)] });
});
