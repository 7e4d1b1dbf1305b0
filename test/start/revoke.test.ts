import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ERRORS } from "../../src/errors.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedConfig } from "../support/test-catalog.ts";
import { askChat, createPaidKey } from "./paid-key.ts";

let upstream: ScriptedUpstream;
let served: ServedProcess;
let folder: string;
let secret: string;
beforeEach(async () => {
  upstream = await startScriptedUpstream();
  folder = tempFolder();
  writeFileSync(join(folder, "tollgate.yaml"), scriptedConfig(upstream, "drain_s: 1"));
  secret = await createPaidKey(folder);
  served = await startServedProcess({ folder });
});
afterEach(async () => {
  served.signal("SIGKILL");
  await served.exitCode;
  await upstream.stop();
});

test("a key that the command line revokes ends its running stream, which is charged for what it had", async () => {
  const never = gate();
  upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: never.opened } }));
  const stream = await askChat(served.url, secret, true);
  expect(stream.status).toBe(200);
  const { exitCode } = await runTollgate(folder, ["key", "revoke", secret.slice(0, 10)]);
  expect(exitCode).toBe(0);
  const { error } = JSON.parse((await stream.text()).trim().split("data: ").at(-1) ?? "");
  expect(error).toEqual({
    message: ERRORS.key_revoked_charged.message,
    type: "authentication_error",
    code: "invalid_api_key",
  });
  never.open();
  expect((await askChat(served.url, secret)).status).toBe(401);
  const accounts = JSON.stringify((await runTollgate(folder, ["account", "list", "--json"])).json().accounts);
  expect(accounts).toContain('"held_usd":"0.00"');
  expect(accounts).not.toContain('"posted_usd":"100.00"');
});
