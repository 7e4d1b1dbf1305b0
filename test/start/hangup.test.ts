import { afterEach, describe, expect, test } from "bun:test";
import { open } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Subprocess } from "bun";
import { tempFolder } from "../support/temp-folder.ts";

const ENTRY = resolve(import.meta.dir, "../../src/cli/tollgate.ts");

const started: Subprocess[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.kill("SIGKILL");
});

/** A command of ours on free ports, in a folder of its own. */
function start(
  name: "serve" | "ledger",
  environment: Readonly<Record<string, string>> = {},
): Subprocess<"ignore", "pipe", "ignore"> {
  const child = Bun.spawn([process.execPath, ENTRY, name], { ...surroundings(environment), stdout: "pipe" });
  started.push(child);
  return child;
}

function surroundings(environment: Readonly<Record<string, string>>) {
  const ports = { PORT: "0", LEDGER_LISTEN: "off", METRICS_LISTEN: "off" };
  return {
    cwd: tempFolder(),
    env: { PATH: process.env.PATH ?? "", ...ports, ...environment },
    stdin: "ignore",
    stderr: "ignore",
  } as const;
}

/** Reads what a process says until it has said this; throws when it ends before. */
async function untilSaid(stdout: ReadableStream<Uint8Array>, words: string): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stdout.values({ preventCancel: true })) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(words)) return;
  }
  throw new Error(`The process ended without saying "${words}": ${text}`);
}

describe("SIGHUP", () => {
  test("while the gateway starts does not end it, and is answered when it has", async () => {
    const pipe = join(tempFolder(), "pipe");
    await Bun.spawn(["mkfifo", pipe]).exited;
    const gateway = start("serve", { TOLLGATE_CONFIG: pipe });
    // Opens when the gateway begins to read its configuration, which keeps it there.
    const writer = await open(pipe, "w");
    gateway.kill("SIGHUP");
    await writer.write("# nothing but defaults\n");
    await writer.close();
    await untilSaid(gateway.stdout, '"configuration rejected');
    gateway.kill("SIGTERM");
    expect(await gateway.exited).toBe(0);
  });

  test("does not end a ledger of its own, which says that it changes nothing", async () => {
    const ledger = start("ledger", { LEDGER_LISTEN: "127.0.0.1:0" });
    await untilSaid(ledger.stdout, '"listening"');
    ledger.kill("SIGHUP");
    await untilSaid(ledger.stdout, "SIGHUP ignored");
    ledger.kill("SIGTERM");
    expect(await ledger.exited).toBe(0);
  });

  test("from a terminal that is closed ends the gateway that writes there", async () => {
    const { promise: listening, resolve: listen } = Promise.withResolvers<void>();
    let printed = "";
    await using terminal = new Bun.Terminal({
      data(_terminal, bytes) {
        printed += Buffer.from(bytes).toString("latin1");
        if (printed.includes('"listening"')) listen();
      },
    });
    const gateway = Bun.spawn([process.execPath, ENTRY, "serve"], { ...surroundings({}), terminal });
    started.push(gateway);
    await listening;
    terminal.close();
    // Told as often as the kernel and a shell like: once the terminal is gone, the first counts.
    while (gateway.exitCode === null) {
      gateway.kill("SIGHUP");
      await Promise.race([gateway.exited, Bun.sleep(20)]);
    }
    expect(await gateway.exited).toBe(0);
  });
});

test("a gateway whose log is read by nobody goes on, and ends when it is told to", async () => {
  const gateway = start("serve");
  await untilSaid(gateway.stdout, '"listening"');
  await gateway.stdout.cancel();
  for (let count = 0; count < 3; count++) {
    gateway.kill("SIGHUP");
    await Bun.sleep(150);
  }
  expect(gateway.exitCode).toBeNull();
  gateway.kill("SIGTERM");
  expect(await gateway.exited).toBe(0);
});
