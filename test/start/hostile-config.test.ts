import { afterEach, expect, test } from "bun:test";
import { readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadWithSource, rereadConfig } from "../../src/config/config.ts";
import { configFolder } from "../config/temp-config.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { until } from "../support/until.ts";

const MODELS = 3_000;

let served: ServedProcess | undefined;
afterEach(async () => {
  served?.signal("SIGKILL");
  await served?.exitCode;
});

/** A valid file of about 700 KB. */
function largeFile(): string {
  const model = (index: number) =>
    `  m${index}: { routes: [{ upstream: demo, model: d }], context_window: 9, max_output_tokens: 9,
    price: { input: "1.00", output: "2.00", cached_input: "0.10", cache_write: "1.25", cache_write_1h: "2.00" } }\n`;
  return `models:\n${Array.from({ length: MODELS }, (_, index) => model(index)).join("")}`;
}

/** Returns the peak memory of a process in MB. */
function peakMemory(pid: number): number {
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1_000;
}

test("a running gateway rejects hostile files, stays ready and below 600 MB, and applies the next valid file", async () => {
  const good = "limits: { requests_per_minute: 7 }\n";
  const folder = configFolder(good);
  const file = join(folder, "tollgate.yaml");
  const gateway = await startServedProcess({ folder });
  served = gateway;
  const list = (text: string, count: number) => `a: &a 1\nb: [${text.repeat(count)}]\n`;
  const hostile: (() => void)[] = [
    ...[
      "upstreams: &u\n  a: *u\n",
      "upstreams: &u [*u]\n",
      list("*a,", 300_000),
      list("[", 1_000_000),
      `${"a: 1\n".repeat(200_000)}b: [`,
      `${largeFile()}x: [`,
    ].map((text) => () => writeFileSync(`${file}.new`, text)),
    () => {
      writeFileSync(`${file}.new`, "");
      truncateSync(`${file}.new`, 5_000_000_000);
    },
    () => {
      rmSync(`${file}.new`, { force: true });
      expect(Bun.spawnSync(["mkfifo", `${file}.new`]).exitCode).toBe(0);
    },
  ];
  for (const [index, write] of hostile.entries()) {
    write();
    renameSync(`${file}.new`, file);
    // The gateway notices each file by itself, but a pipe on request only. Requested too, a file may be rejected twice.
    if (statSync(file).isFIFO()) process.kill(gateway.pid, "SIGHUP");
    const isRejected = async () => gateway.stdout().split("configuration rejected").length > index + 1;
    await until(
      isRejected,
      () => `The log does not contain that file ${index} is rejected: ${gateway.stdout()}`,
    );
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  }
  writeFileSync(`${file}.new`, good.replace("7", "8"));
  renameSync(`${file}.new`, file);
  await until(async () => gateway.stdout().includes("configuration reloaded"));
  expect(peakMemory(gateway.pid)).toBeLessThan(600);
  expect(gateway.stdout().split("configuration rejected")).toHaveLength(hostile.length + 1);
});

test("the event loop keeps turning while a file of the largest size is checked", async () => {
  const loaded = loadWithSource({}, { folder: configFolder() });
  const file = { kind: "text", text: largeFile(), writtenAtS: 1 } as const;
  let isOver = false;
  const reread = rereadConfig(loaded, { file, env: { kind: "absent" }, secrets: {} }).finally(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns++) await new Promise(setImmediate);
  expect((await reread).config.models).toHaveLength(MODELS);
  // The check takes over 500 ms, a turn of an idle loop some microseconds.
  expect(turns).toBeGreaterThan(100);
});

test("a start reads its file from a pipe, and fails with an endless device", async () => {
  const folder = configFolder();
  const pipe = join(folder, "pipe");
  expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
  const writer = Bun.spawn(["sh", "-c", `echo 'limits: { requests_per_minute: 7 }' > ${pipe}`]);
  served = await startServedProcess({ folder, environment: { TOLLGATE_CONFIG: pipe } });
  expect(await writer.exited).toBe(0);
  const failing = startServedProcess({ folder, environment: { TOLLGATE_CONFIG: "/dev/zero" } });
  await expect(failing).rejects.toThrow("TOLLGATE_CONFIG: names a file that is larger than 1 MiB");
});
