import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { runTollgate } from "../cli/run-tollgate.ts";
import { createPaidKey } from "../start/paid-key.ts";
import { CHAT } from "../support/client.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedConfig } from "../support/test-catalog.ts";

const MIB = 1024 * 1024;
const BYTES_IN_FLIGHT = 128 * MIB;

let upstream: ScriptedUpstream;
let gateway: ServedProcess;
/** The key of a tenant with money. */
let tenant: string;
/** A key without money and with one request per minute. */
let hostile: string;
let sockets: Socket[] = [];

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  const folder = tempFolder();
  const limits = `limits: { body_bytes_in_flight: ${BYTES_IN_FLIGHT} }`;
  writeFileSync(join(folder, "tollgate.yaml"), scriptedConfig(upstream, limits));
  tenant = await createPaidKey(folder);
  await runTollgate(folder, ["account", "create", "--name", "hostile"]);
  const bounds = ["--requests-per-minute", "1"];
  const key = await runTollgate(folder, ["key", "create", "--account", "hostile", "--name", "h", ...bounds]);
  hostile = /sk-tg-[\w-]{43}/.exec(key.stdout)?.[0] ?? "";
  gateway = await startServedProcess({ folder });
});
afterAll(async () => {
  gateway?.signal("SIGKILL");
  await gateway?.exitCode;
  await upstream.stop();
});

/** Opens connections that announce a body and send part of it. Resolves when all is sent or rejected. */
async function attack(count: number, announced: number, sent: number): Promise<void> {
  const { hostname, port } = new URL(gateway.url);
  const piece = Buffer.alloc(Math.min(sent, 64 * 1024), "x");
  const head = `POST ${CHAT.path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${hostile}\r\ncontent-length: ${announced}\r\n\r\n`;
  const opened = Array.from({ length: count }, async () => {
    const socket = connect({ host: hostname, port: Number(port) });
    sockets.push(socket);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.resume();
    socket.write(head);
    for (let bytes = 0; bytes < sent && !socket.destroyed; bytes += piece.length) {
      if (socket.write(piece)) continue;
      const { promise: drained, resolve: drain } = Promise.withResolvers<void>();
      socket.once("drain", drain);
      await Promise.race([drained, closed]);
    }
  });
  await Promise.all(opened);
}

/** Sends a prompt of this many bytes as the tenant, and returns the status. */
async function ask(bytes: number): Promise<number> {
  const content = "a ".repeat(bytes / 2);
  const response = await fetch(`${gateway.url}${CHAT.path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant}` },
    body: JSON.stringify({ ...CHAT.body(), messages: [{ role: "user", content }] }),
  });
  await response.text();
  return response.status;
}

describe("one key without money does not block other tenants with", () => {
  test.each<[string, () => Promise<void>]>([
    [
      "bodies that stop before their end and others that never begin",
      async () => {
        await attack(5, 30 * MIB, 29 * MIB);
        await attack(330, 65_536, 0);
      },
    ],
    ["2,500 small bodies that never begin", () => attack(2_500, 65_536, 0)],
    ["2,500 large bodies that never begin", () => attack(2_500, 30 * MIB, 0)],
    ["small bodies that lack their last byte", () => attack(2_500, 65_536, 65_535)],
  ])("%s", async (_name, open) => {
    await open();
    const statuses: number[] = [];
    for (const bytes of [100, 50_000, 100_000, 150_000, 100]) statuses.push(await ask(bytes));
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    for (const socket of sockets) socket.destroy();
    sockets = [];
    while ((await ask(100)) !== 200) await Bun.sleep(50);
  });
});
