import { afterAll, expect, test } from "bun:test";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startConfigReload, startLedgerReload } from "../../src/app/config-reload.ts";
import { followSecrets } from "../../src/app/live-secrets.ts";
import { type Config, loadConfig, loadLedgerConfig, loadWithSource } from "../../src/config/config.ts";
import type { Watcher } from "../../src/config/sources.ts";
import { configFolder } from "../config/temp-config.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { until } from "../support/until.ts";

const YAML = `upstreams: { up: { protocol: openai, base_url: https://up.example, api_key: "\${UP_KEY}" } }\n`;
const TOKEN = "a-token-of-16-ch";
const CANARY = "canary of a secret";

const running: Watcher[] = [];
afterAll(() => {
  for (const reloads of running) reloads.close();
});

/** Writes the next version of a volume as Kubernetes does: a new folder, and `..data` swapped to it. */
function swap(folder: string, version: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, version));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, version, name), text);
  symlinkSync(version, join(folder, "..data_new"));
  renameSync(join(folder, "..data_new"), join(folder, "..data"));
}

/** Mounts a volume with these files, and follows it like a gateway. */
function follow(yaml: string | undefined, files: Readonly<Record<string, string>>, more = {}) {
  const folder = configFolder(yaml);
  swap(folder, "v0", files);
  for (const name of Object.keys(files)) symlinkSync(`..data/${name}`, join(folder, name));
  const environment = Object.fromEntries(Object.keys(files).map((name) => [`${name}_FILE`, name]));
  const loaded = loadWithSource({ ...environment, ...more }, { folder });
  const live = followSecrets(loaded.config);
  const applied: Config[] = [];
  const log = createCapturedLog();
  const apply = (config: Config) => {
    applied.push(config);
    live.renew(config);
  };
  const reloads = startConfigReload({ loaded, apply, log });
  running.push(reloads);
  return { folder, reloads, applied, config: live.config, log: () => log.text() };
}

test.concurrent("an upstream's key is followed through the swap of a link, as in a Kubernetes volume", async () => {
  const { folder, applied, log } = follow(YAML, { UP_KEY: "k-1\n" });
  swap(folder, "v1", { UP_KEY: "k-2\n" });
  await until(() => log().includes("configuration reloaded"));
  expect(applied.at(-1)?.upstreams[0]?.apiKey).toBe("k-2");
  expect(log()).toContain('"upstreams":{"changed":["up"]}');
  expect(log()).not.toContain("k-2");
});

test.concurrent("a secret with a problem keeps the former one, is reported by name, and is mended later", async () => {
  const { folder, applied, log } = follow(YAML, { UP_KEY: "k-1" });
  swap(folder, "v1", { UP_KEY: "" });
  await until(() => log().includes("configuration rejected"));
  expect(log()).toContain("needs UP_KEY, but UP_KEY_FILE names a file that is empty");
  expect(applied).toEqual([]);
  swap(folder, "v2", { UP_KEY: `${CANARY}\n${CANARY}` });
  await until(() => log().split("configuration rejected").length === 3);
  swap(folder, "v3", { UP_KEY: "k-3" });
  await until(() => applied.at(-1)?.upstreams[0]?.apiKey === "k-3");
  expect(log()).not.toContain(CANARY);
});

test.concurrent("SIGHUP applies a changed secret, and the YAML file keeps its settings", async () => {
  const { folder, reloads, applied, log } = follow(`${YAML}drain_s: 7\n`, { UP_KEY: "k-1" });
  swap(folder, "v1", { UP_KEY: "k-2" });
  reloads.request();
  await until(() => log().includes("configuration reloaded"));
  expect(applied.at(-1)).toMatchObject({ drainMs: 7_000, upstreams: [{ apiKey: "k-2" }] });
});

const SECRETS = {
  DATABASE_URL: "postgres://u:p-1@h/d",
  REDIS_URL: "redis://u:p-1@h",
  LEDGER_TOKEN: `${TOKEN}-1`,
  SMTP_URL: "smtp://u:p-1@h",
  STRIPE_SECRET_KEY: "sk_test_1",
  STRIPE_WEBHOOK_SECRET: "whsec_1",
};

test.concurrent("every secret of the environment is followed, and its name alone is logged", async () => {
  const mail = { MAIL_FROM: "a@b.example" };
  const { folder, config, log } = follow(undefined, SECRETS, mail);
  const next = Object.entries(SECRETS).map(([name, text]) => [name, text.replace(/1(?=@|$)/, "2")]);
  swap(folder, "v1", Object.fromEntries(next));
  await until(() => log().includes("configuration reloaded"));
  const expected = loadConfig({ ...Object.fromEntries(next), ...mail }, { folder });
  expect(structuredClone(config)).toEqual(structuredClone(expected));
  expect([...Object.keys(SECRETS)].sort()).toEqual(JSON.parse(log()).settings.sort());
  expect(log()).not.toMatch(/p-2|_2|-2/);
});

test.concurrent("another database or Redis than the running one needs a restart", async () => {
  const { folder, config, log } = follow(undefined, SECRETS, { MAIL_FROM: "a@b.example" });
  swap(folder, "v1", {
    ...SECRETS,
    DATABASE_URL: "postgres://u:p-2@elsewhere/d",
    REDIS_URL: "redis://other:p-2@h",
  });
  await until(() => log().includes("need a restart"));
  expect(log()).toContain('"settings":["REDIS_URL","DATABASE_URL"]');
  expect(config.database).toEqual({ dialect: "postgres", url: SECRETS.DATABASE_URL });
  expect(config.limiter.redis).toMatchObject({ username: "u", password: "p-1" });
});

test.concurrent("a ledger process follows its token, and reports a wrong one", async () => {
  const folder = configFolder();
  const path = join(folder, "token");
  writeFileSync(path, `${TOKEN}-1\n`);
  const loaded = loadLedgerConfig({ LEDGER_TOKEN_FILE: "token" }, { folder });
  const log = createCapturedLog();
  const applied: string[][] = [];
  const apply = ({ ledger }: Pick<Config, "ledger">) => void applied.push([...ledger.tokens]);
  const reloads = startLedgerReload({ loaded, apply, log });
  running.push(reloads);
  writeFileSync(path, `${TOKEN}-2\n${TOKEN}-1\n`);
  await until(() => applied.length > 0);
  expect(applied).toEqual([[`${TOKEN}-2`, `${TOKEN}-1`]]);
  writeFileSync(path, CANARY);
  await until(() => log.text().includes("configuration rejected"));
  expect(log.text()).toContain("LEDGER_TOKEN: is not a token");
  expect(log.text()).not.toContain(CANARY);
});
