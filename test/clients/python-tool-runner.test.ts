import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { answerNeutrally } from "../support/format-pairs/format-pair.ts";
import { neutralAnswer } from "../support/format-pairs/neutral-answer.ts";
import { requirePythonPackages } from "../support/installed-programs.ts";
import { runProgram } from "../support/run-program.ts";
import { ANTHROPIC_PYTHON_VERSION } from "./python-packages.ts";
import { CLAUDE, GPT, translatingGateway } from "./translating-gateway.ts";

/** Its tool runner asks for threads by default, as that of the JavaScript SDK does. */
const PACKAGE = `anthropic==${ANTHROPIC_PYTHON_VERSION}`;

const { upstream, settings } = translatingGateway();
let packages: string;
beforeAll(async () => {
  packages = await requirePythonPackages([PACKAGE]);
});

const asks = (id: string, city: string) =>
  answerNeutrally(
    neutralAnswer({
      text: "I will look.",
      calls: [{ id, name: "get_weather", input: { city } }],
      finish: "tool_calls",
    }),
  );
const answers = answerNeutrally(neutralAnswer({ text: "It rains in both." }));
const LOOP = [asks("call_oslo_1", "Oslo"), asks("call_rome_2", "Rome"), answers];

const ENDED = {
  whole: "It rains in both.",
  streamed: "It rains in both.",
  statuses: [200, 400, 200, 400, 200, 200, 400, 200, 400, 200],
};

// One process for both upstreams: to load the SDK takes seconds.
test("the tool runner of Anthropic's Python SDK ends its loops with upstreams of OpenAI and of Anthropic", async () => {
  for (const model of [GPT, CLAUDE]) upstream().on(model, ...LOOP, ...LOOP);
  expect(await runPython(GPT, CLAUDE)).toEqual({ [GPT]: ENDED, [CLAUDE]: ENDED });
  for (const { bodyText } of upstream().seen) expect(JSON.parse(bodyText)).not.toHaveProperty("thread");
});

async function runPython(...models: readonly string[]): Promise<unknown> {
  const { baseURL, apiKey } = settings();
  const script = join(import.meta.dir, "python-tool-runner.py");
  const command = ["python3", script, baseURL.replace("/v1", ""), apiKey, ...models];
  const env = { ...process.env, PYTHONPATH: packages };
  const { exitCode, stdout, stderr } = await runProgram(command, { env });
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}
