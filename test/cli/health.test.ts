import { afterAll, beforeAll, expect, test } from "bun:test";
import { version } from "../../package.json";
import { freePort } from "../support/free-port.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { runTollgate } from "./run-tollgate.ts";

let gateway: ServedProcess;
beforeAll(async () => {
  gateway = await startServedProcess({ folder: tempFolder(), environment: { HOST: "0.0.0.0" } });
});
afterAll(async () => {
  gateway.signal("SIGKILL");
  await gateway.exitCode;
});

const health = (words: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
  runTollgate(tempFolder(), ["health", ...words], environment);

test("health asks the gateway of its environment, past every proxy, and succeeds while it is ready", async () => {
  const { port } = new URL(gateway.url);
  const proxies = { http_proxy: "http://127.0.0.1:1", HTTP_PROXY: "http://127.0.0.1:1" };
  for (const HOST of ["0.0.0.0", "127.0.0.1", "localhost"]) {
    const asked = await health(["--json"], { HOST, PORT: port, ...proxies });
    expect(asked).toMatchObject({ exitCode: 0, stderr: "" });
    expect(asked.json()).toMatchObject({ ready: true });
  }
});

test("health fails without a gateway, with another server's answer, and with a port that nobody knows", async () => {
  const nobody = await health([], { PORT: String(freePort()) });
  expect(nobody).toMatchObject({ exitCode: 1, stderr: "" });
  expect(nobody.stdout).toStartWith("No gateway answers at http://127.0.0.1:");
  using other = Bun.serve({ port: 0, fetch: () => new Response("draining", { status: 503 }) });
  expect(await health(["--url", other.url.origin])).toMatchObject({ exitCode: 1, stdout: "draining\n" });
  expect(await health([], { PORT: "0" })).toMatchObject({ exitCode: 2, stdout: "" });
});

test("health waits for a gateway that is starting, unless the process it waits for has ended", async () => {
  let isReady = false;
  const status = () => (isReady ? 200 : 503);
  using other = Bun.serve({ port: 0, fetch: () => new Response("state", { status: status() }) });
  const waiting = health(["--url", other.url.origin, "--wait", "120", "--pid", String(process.pid)]);
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  const abandoned = await health(["--url", other.url.origin, "--wait", "120", "--pid", String(ended.pid)]);
  expect(abandoned.exitCode).toBe(1);
  isReady = true;
  expect((await waiting).exitCode).toBe(0);
});

test("the version is that of package.json", async () => {
  const { stdout } = await runTollgate(tempFolder(), ["--version"]);
  expect(stdout).toStartWith(`tollgate ${version}, `);
});
