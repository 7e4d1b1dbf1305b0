import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { PLAN_COMMANDS, PLAN_YAML } from "./plan-blocks.ts";
import { createReaderShell } from "./reader-shell.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-docs-"));
const shell = createReaderShell(folder);
const TOLLGATE_CONFIG = join(folder, "tollgate.yaml");
/** The page names models of the reader's own file, and a second plan. */
const MAX = '  max: { name: Max, period: month, grant: "50.00" }\n';
const MODELS = ["gpt-4.1-mini", "claude-sonnet-4-5"].map(
  (id) => `  ${id}:
    context_window: 10000
    max_output_tokens: 100
    routes: [{ upstream: demo, model: demo }]
    price: { input: "1.00", output: "2.00" }
`,
);
let served: ServedProcess;

beforeAll(async () => {
  writeFileSync(TOLLGATE_CONFIG, `${PLAN_YAML.text}${MAX}models:\n${MODELS.join("")}`);
  const environment = { ...shell.environment, TOLLGATE_CONFIG };
  served = await startServedProcess({ folder, environment });
});

afterAll(async () => {
  served.signal("SIGTERM");
  await served.exitCode;
  rmSync(folder, { recursive: true });
});

test("the commands of the page of plans work one after the other; a preview exits with 1", async () => {
  await shell.paste("bun tollgate account create --name acme", {});
  for (const line of PLAN_COMMANDS.text.trimEnd().split("\n")) {
    const { exitCode, stderr } = await shell.paste(line, { TOLLGATE_CONFIG });
    const isPreview = line.includes("subscription change") && !line.includes("--yes");
    expect([line, exitCode], stderr).toEqual([line, isPreview ? 1 : 0]);
  }
});
