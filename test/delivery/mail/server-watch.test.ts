import { afterEach, expect, test } from "bun:test";
import { watchMailServer } from "../../../src/delivery/mail/server-watch.ts";
import { createCapturedLog } from "../../support/captured-log.ts";
import { startMailCatcher } from "../../support/mail-catcher.ts";
import { until } from "../../support/until.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A mail server that refuses logins while told to, and counts its connections. */
async function startServer() {
  const state = { refuses: false, connections: 0 };
  const catcher = await startMailCatcher({
    onConnect(_session, callback) {
      state.connections += 1;
      callback();
    },
    onAuth: ({ username = "" }, _session, callback) =>
      state.refuses ? callback(new Error("535 refused")) : callback(null, { user: username }),
  });
  closers.push(catcher.stop);
  return { state, url: catcher.url.replace("//", "//user:pass-canary@") };
}

function watch(url: string, firstMs = 1) {
  const log = createCapturedLog();
  const server = { url, from: "noreply@tollgate.example" };
  const watched = watchMailServer({ server, log, firstMs, againMs: 5 });
  closers.push(watched.close);
  return { ...watched, log };
}

test("a wrong login is named after the start, and its end once it is mended", async () => {
  const { state, url } = await startServer();
  state.refuses = true;
  const watched = watch(url);
  await until(() => watched.state().problem === "login_refused");
  await until(() => state.connections > 2);
  state.refuses = false;
  await until(() => watched.state().problem === undefined);
  expect(watched.log.text().split("\n")).toEqual([
    '{"level":"warn","problem":"login_refused","event":"mail server unusable: see SMTP_URL"}',
    '{"level":"info","event":"mail server usable again"}',
  ]);
});

test("a server that does not answer is named, without its address or password", async () => {
  const watched = watch("smtp://user:pass-canary@127.0.0.1:1");
  await until(() => watched.state().checkedAtMs !== undefined);
  expect(watched.state().problem).toBe("no_answer");
  expect(watched.log.text()).toContain('"problem":"no_answer"');
  expect(watched.log.text()).not.toMatch(/pass-canary|127\.0\.0\.1/);
});

test("a server that works is asked once, and again after a mail that it did not take", async () => {
  const { state, url } = await startServer();
  const watched = watch(url);
  await until(() => watched.state().checkedAtMs !== undefined);
  const send = watched.guard(async () => Promise.reject(new Error("550 no such user")));
  const letter = { id: "1", address: "a@example.com", subject: "s", text: "t", html: "h" };
  state.refuses = true;
  expect(state.connections).toBe(1);
  await expect(send(letter)).rejects.toThrow("550");
  await until(() => watched.state().problem === "login_refused");
});

test("a watch that was closed asks nobody", async () => {
  const { state, url } = await startServer();
  const watched = watch(url, 20);
  await watched.close();
  await Bun.sleep(60);
  expect(state.connections).toBe(0);
});
