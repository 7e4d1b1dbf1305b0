import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { createBodies } from "../../src/bodies/bodies.ts";
import type { Body } from "../../src/bodies/body.ts";
import { createCooperativeYield } from "../../src/bodies/cooperative-yield.ts";
import { GatewayError } from "../../src/errors.ts";
import { openaiChat } from "../../src/wire/openai-chat/format.ts";
import { until } from "../support/until.ts";

const FAULTY = new URL("./faulty-worker.ts", import.meta.url);
const MESSAGE = '{"role":"user","content":"x"}';
const ALWAYS_REMOTE = { inProcessBytesMax: -1 };
const OPTIONS = {
  model: "host",
  outputTokensMax: 1,
  outputLimitField: undefined,
  stream: false,
  traits: { reasoning: "none", sampling: true },
} as const;
const closing: (() => void)[] = [];
afterAll(() => {
  for (const close of closing) close();
});

function bodiesOf(options: Parameters<typeof createBodies>[1]) {
  const bodies = createBodies(createCooperativeYield(), { ...ALWAYS_REMOTE, ...options });
  closing.push(bodies.close);
  const read = async (text = "{}", owner = "account"): Promise<Body> =>
    bodies.read({ wire: openaiChat, owner, blocks: [new TextEncoder().encode(text)] });
  return { ...bodies, read };
}

describe("a body worker that dies or hangs", () => {
  test("rejects this and later questions about its body, and none about other bodies", async () => {
    const bodies = bodiesOf({ script: FAULTY });
    const [doomed, other] = [await bodies.read(), await bodies.read()];
    await expect(Promise.resolve(doomed.promptText())).rejects.toThrow("The body worker ended");
    await expect(Promise.resolve(doomed.promptText())).rejects.toThrow("lost with its worker");
    expect((await other.print("chat", OPTIONS)) as unknown).toEqual([{ model: "1" }]);
    expect((await bodies.read()).request.model).toBe("1");
  });

  test("is replaced when a job exceeds its timeout, and later jobs are done", async () => {
    const bodies = bodiesOf({ script: FAULTY, jobMsMax: 5_000 });
    const hung = await bodies.read();
    const counted = expect(Promise.resolve(hung.printCount({ model: "m" }))).rejects.toThrow(
      "The body worker hangs",
    );
    const behind = bodies.read();
    await counted;
    expect((await behind).request.model).toBe("1");
  });

  test("and cannot start rejects each body", async () => {
    const bodies = bodiesOf({ script: new URL("../tokens/broken-worker.ts", import.meta.url) });
    const outcomes = await Promise.allSettled([bodies.read(), bodies.read(), bodies.read()]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  });

  test("rejects waiting and later bodies when it is closed", async () => {
    const bodies = bodiesOf({ script: FAULTY });
    const waiting = [bodies.read(), bodies.read()];
    bodies.close();
    const outcomes = await Promise.allSettled(waiting);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await expect(bodies.read()).rejects.toThrow("closed");
  });
});

describe("bodies in the queue of the worker", () => {
  const LARGE = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x".repeat(3_000_000) }] });

  test("of one account delay a body of another by one", async () => {
    const bodies = bodiesOf({});
    await bodies.read(LARGE);
    const order: string[] = [];
    const many = Array.from({ length: 12 }, () => bodies.read(LARGE, "many").then(() => order.push("many")));
    await bodies.read(LARGE, "few").then(() => order.push("few"));
    expect(order.indexOf("few")).toBeLessThanOrEqual(2);
    await Promise.all(many);
  });

  test("beyond the maximum are declined with too_many_body_bytes until fewer wait", async () => {
    const bodies = bodiesOf({ readingMax: 3 });
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => bodies.read(LARGE)));
    const declined = all.filter((each) => each.status === "rejected").map(({ reason }) => reason);
    expect(declined).toHaveLength(5);
    for (const reason of declined) {
      expect(reason).toBeInstanceOf(GatewayError);
      expect([reason.kind, reason.retryAfterS]).toEqual(["too_many_body_bytes", 1]);
    }
    expect((await bodies.read(LARGE)).request.model).toBe("m");
  });

  test("are asked concurrent questions one at a time", async () => {
    const bodies = bodiesOf({});
    const body = await bodies.read(LARGE);
    const traits = { reasoning: "none", sampling: true } as const;
    const options = { model: "host", outputTokensMax: 9, outputLimitField: undefined, stream: false, traits };
    const [prompt, printed, again] = await Promise.all([
      body.promptText(),
      body.print("chat", options),
      body.promptText(),
    ]);
    expect([prompt.length, again.length]).toEqual([3_000_000, 3_000_000]);
    expect(Buffer.concat(printed as readonly Uint8Array[]).toString()).toStartWith('{"model":"host"');
  });
});

describe("the body worker", () => {
  test("is started for the first large body and ended after its idle time", async () => {
    const bodies = bodiesOf({ inProcessBytesMax: 1_000, idleMs: 100 });
    const open = (chars: number) =>
      bodies.read(`{"model":"m","messages":[{"role":"user","content":"${"x".repeat(chars)}"}]}`);
    await open(1);
    const before = workerThreads();
    const body = await open(2_000);
    const begun = workerThreads().filter((id) => !before.includes(id));
    expect(begun).toHaveLength(1);
    await until(() => !workerThreads().some((id) => begun.includes(id)));
    expect(await body.promptText()).toHaveLength(2_000);
  });
});

describe("a body above 128 KiB", () => {
  const bodies = createBodies(createCooperativeYield(), { script: FAULTY });
  closing.push(bodies.close);
  /** Whether a body of these members is read at once, without the worker. Resolves when it is read. */
  const isReadHere = async (members: string): Promise<boolean> => {
    const blocks = [new TextEncoder().encode(`{"model":"m","messages":[${MESSAGE}]${members}}`)];
    const read = bodies.read({ wire: openaiChat, owner: "account", blocks });
    await read;
    return !(read instanceof Promise);
  };
  const text = (bytes: number) => `,"user":"${"x".repeat(bytes)}"`;
  const numbers = (count: number) => `,"metadata":[${"1,".repeat(count)}1]`;
  const keys = (count: number) =>
    `,"metadata":{${Array.from({ length: count }, (_, at) => `"key-${at}":"${at}"`).join()}}`;

  test.each([
    ["of text is read in this thread", text(900_000), true],
    ["of text goes to the worker above 1 MiB", text(1_100_000), false],
    ["of text and 10,000 members is read in this thread", text(500_000) + keys(10_000), true],
    ["of 17,000 members goes to the worker", keys(17_000), false],
    ["of 60,000 values is read in this thread", text(100_000) + numbers(60_000), true],
    ["of 65,000 values goes to the worker", text(100_000) + numbers(65_000), false],
  ])("%s", async (_, members, isHere) => {
    // Work of the last case uses up the time of this turn, and so does a busy machine.
    if (isHere) await until(() => isReadHere(members));
    else expect(await isReadHere(members)).toBe(false);
  });
});

/** The ids of the worker threads of this process (Linux only). Others of the runtime come and go. */
function workerThreads(): readonly string[] {
  return readdirSync("/proc/self/task").filter(isWorker);
}

/** A thread may end while its name is read. */
function isWorker(threadId: string): boolean {
  try {
    return readFileSync(`/proc/self/task/${threadId}/comm`, "utf8") === "Worker\n";
  } catch {
    return false;
  }
}
