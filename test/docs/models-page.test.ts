import { expect, test } from "bun:test";
import { join } from "node:path";
import { loadYaml } from "../config/temp-config.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { KNOWN_YAML, MODEL_COMMANDS } from "./model-blocks.ts";
import { createReaderShell } from "./reader-shell.ts";

const KEYS = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b" };

test("the commands of the models page find models and write a file that loads", async () => {
  const folder = tempFolder();
  const file = join(folder, "tollgate.yaml");
  const { exitCode, stdout } = await createReaderShell(folder).paste(MODEL_COMMANDS.text, {
    TOLLGATE_CONFIG: file,
  });
  expect(exitCode).toBe(0);
  expect(stdout).toContain("anthropic/claude-sonnet-4-5");
  const { models } = loadYaml(await Bun.file(file).text(), KEYS);
  expect(models.map(({ id }) => id)).toEqual(["claude-sonnet-4-5", "gpt-5"]);
});

test("the file of the models page has costs that nobody typed, and a markup over them", () => {
  const [claude, gpt, fast] = loadYaml(KNOWN_YAML.text, KEYS).models;
  expect(claude?.price).toEqual(claude?.cost ?? expect.anything());
  expect(gpt?.price.input).toBe(((gpt?.cost?.input ?? 0n) * 115n) / 100n);
  expect(fast?.outputTokensMax).toBe(8_000);
  expect(fast?.routes.map(({ upstreamModel }) => upstreamModel)).toEqual([
    "gpt-4.1-mini",
    "claude-haiku-4-5",
  ]);
});
