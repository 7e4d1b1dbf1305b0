import { afterEach, beforeEach, expect, test } from "bun:test";
import { ERRORS } from "../../src/errors.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { askChat } from "./paid-key.ts";
import { openProcessFixture, type ProcessFixture } from "./process-fixture.ts";

let fixture: ProcessFixture;
beforeEach(async () => {
  fixture = await openProcessFixture("drain_s: 1");
});
afterEach(() => fixture.close());

test("revoking a key by the command line ends its running stream, which is charged for its output so far", async () => {
  const { upstream, folder, secret, serve } = fixture;
  const { url } = await serve();
  const never = gate();
  upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: never.opened } }));
  const stream = await askChat(url, secret, true);
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
  expect((await askChat(url, secret)).status).toBe(401);
  const accounts = JSON.stringify(await fixture.accounts());
  expect(accounts).toContain('"held_usd":"0.00"');
  expect(accounts).not.toContain('"posted_usd":"100.00"');
});
