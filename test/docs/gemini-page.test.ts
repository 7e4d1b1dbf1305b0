import { expect, test } from "bun:test";
import { GatewayError } from "../../src/errors.ts";
import { printError } from "../../src/wire/google-gemini/errors.ts";
import { geminiCli } from "../agents/agent/gemini-cli.ts";
import { createErrand } from "../agents/errand.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { GEMINI_CLI, GEMINI_ERROR } from "./gemini-blocks.ts";

test("the page of Gemini's form shows an error as it is sent", () => {
  const error = new GatewayError("rate_limited", { retryAfterS: 6 });
  const id = "01a20379-7e2c-7000-8000-000000000000";
  expect(JSON.parse(GEMINI_ERROR.text)).toEqual(JSON.parse(printError(error, id)));
});

test("the page of Gemini's form sets Gemini CLI up as the runs of agents do", async () => {
  const home = tempFolder();
  const place = { home, gatewayUrl: "http://127.0.0.1:8080", key: "the-key" };
  const { environment } = geminiCli.start(place, createErrand());
  const settings = await Bun.file(`${home}/.gemini/settings.json`).json();
  for (const [name, value] of Object.entries(environment).filter(
    ([each]) => each !== "GEMINI_CLI_TRUST_WORKSPACE",
  ))
    expect(GEMINI_CLI.text).toContain(`export ${name}=${value.replace("the-key", "$TOLLGATE_KEY")}`);
  const [, written = ""] = /echo '(.*)' > ~\/\.gemini\/settings\.json/.exec(GEMINI_CLI.text) ?? [];
  expect(JSON.parse(written)).toEqual(settings);
});
