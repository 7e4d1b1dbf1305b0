import { afterEach, describe, expect, test } from "bun:test";
import {
  createWorkerQueue,
  type WorkerQueue,
  type WorkerQueueOptions,
} from "../../src/workers/worker-queue.ts";
import type { ScriptedJob } from "./scripted-worker.ts";

const HANG: ScriptedJob = { do: "hang" };
/** Long enough for the start of a worker on a busy machine. */
const JOB_MS_MAX = 30_000;

const open: WorkerQueue<ScriptedJob, string>[] = [];
afterEach(() => {
  for (const queue of open.splice(0)) queue.close();
});

function createQueue(options: Partial<WorkerQueueOptions<ScriptedJob>> = {}) {
  const queue = createWorkerQueue<ScriptedJob, string>({
    name: "test worker",
    script: new URL("./scripted-worker.ts", import.meta.url),
    jobMsMax: JOB_MS_MAX,
    ...options,
  });
  open.push(queue);
  return queue;
}

function echo(value: string): ScriptedJob {
  return { do: "echo", value };
}

describe("a worker queue", () => {
  test("fails a job, not the process, while no file can be opened, and runs the next one", async () => {
    const child = new URL("./without-files-child.ts", import.meta.url).pathname;
    const command = ["sh", "-c", 'ulimit -n 64; exec "$0" "$1"', process.execPath, child];
    const { exitCode, stdout } = Bun.spawnSync(command);
    expect(stdout.toString()).toBe("A job of the test worker cannot be sent\ndone\n");
    expect(exitCode).toBe(0);
  });

  test("runs the jobs of alternating owners in one worker", async () => {
    const queue = createQueue();
    const order: string[] = [];
    const jobs = ["a1", "a2", "a3", "b1"].map((value) =>
      queue.run(value.charAt(0), echo(value)).then((result) => order.push(result)),
    );
    await Promise.all(jobs);
    expect(order).toEqual(["a1", "a2", "b1", "a3"]);
    expect(await queue.run("a", { do: "sleep", ms: 0 })).toBe("job 5");
  });

  test("rejects the job during which the worker dies, and runs the next one in a new worker", async () => {
    let failures = 0;
    const queue = createQueue({
      onFailure() {
        failures += 1;
      },
    });
    const lost = queue.run("a", { do: "die" });
    const next = queue.run("a", { do: "sleep", ms: 0 });
    await expect(lost).rejects.toThrow("The test worker ended");
    expect(await next).toBe("job 1");
    expect(failures).toBe(1);
  });

  test("rejects a job that exceeds its own timeout", async () => {
    const queue = createQueue();
    await queue.run("a", echo("started"));
    await expect(queue.run("a", HANG, 50)).rejects.toThrow("The test worker hangs");
    expect(await queue.run("a", echo("next"))).toBe("next");
  });

  test("reports the death of a worker without a job", async () => {
    const { promise: failed, resolve } = Promise.withResolvers<void>();
    const queue = createQueue({ onFailure: resolve });
    await queue.run("a", { do: "dieLater" });
    await failed;
    expect(await queue.run("a", { do: "sleep", ms: 0 })).toBe("job 1");
  });

  test("keeps its worker without a job unless it has an idle time", async () => {
    const [kept, ending] = [createQueue(), createQueue({ idleMs: 20 })];
    const count = (queue: WorkerQueue<ScriptedJob, string>) => queue.run("a", { do: "sleep", ms: 0 });
    await Promise.all([count(kept), count(ending)]);
    await Bun.sleep(300);
    expect(await Promise.all([count(kept), count(ending)])).toEqual(["job 2", "job 1"]);
  });

  test("rejects running, waiting and later jobs when it is closed", async () => {
    const queue = createQueue();
    const jobs = [queue.run("a", HANG), queue.run("b", echo("b"))];
    queue.close();
    for (const job of [...jobs, queue.run("c", echo("c"))]) await expect(job).rejects.toThrow("is closed");
  });
});
