import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { asc, eq } from "drizzle-orm";
import { createMasterKeys, readMasterKey } from "../../src/db/sealing.ts";
import type { RecordingRules } from "../../src/domain/recording-rules.ts";
import { platform } from "../../src/platform.ts";
import { findRecording, openRecording } from "../../src/recordings/open-recording.ts";
import { createRecorder, type RunningRecorder } from "../../src/recordings/recorder.ts";
import type { Recording } from "../../src/recordings/recording.ts";
import { sweepRecordings } from "../../src/recordings/store.ts";
import { type CountedRecordings, countRecordings } from "../../src/telemetry/recording-metrics.ts";
import { DIALECTS, openTempStorage, type TempStorage } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { TEST_MS } from "../support/timeouts.ts";
import { until } from "../support/until.ts";

const MASTER = Buffer.alloc(32, 3).toString("base64");
const MIB = 1024 * 1024;
const RULES: RecordingRules = {
  untilMs: Date.UTC(2026, 5, 2),
  keptMs: 3_600_000,
  keepsMedia: false,
  patterns: [],
  expressions: [],
  salt: Buffer.alloc(32, 9).toString("base64"),
};

describe.each(DIALECTS)("a recorder on %s", (dialect) => {
  let storage: TempStorage;
  let recorder: RunningRecorder;
  const log = createCapturedLog();
  let counted: CountedRecordings;
  const masterKeys = createMasterKeys(() => [MASTER]);
  beforeEach(async () => {
    storage = await openTempStorage(dialect);
    const { database, now } = storage;
    const bounds = { accountBytes: 6_000, totalBytes: 1_000_000 };
    counted = countRecordings();
    const options = { database, log, masterKeys, bounds, now, metrics: counted };
    recorder = createRecorder({ ...options, memoryBytesMax: 4 * MIB, jobMsMax: TEST_MS });
  });
  afterEach(async () => {
    await recorder.close();
    await storage.close();
  });

  const addKey = async (accountId: string, rules = RULES) => {
    const { db, tables } = storage.database;
    const row = { id: `key of ${accountId}`, accountId, name: "k", hint: "h", digest: accountId };
    await db.insert(tables.apiKeys).values({ ...row, createdAtMs: storage.now(), recording: rules });
  };
  const begin = (accountId: string, bytes = 1_000, rules = RULES): Recording | undefined => {
    const requestId = Bun.randomUUIDv7("hex", storage.clock.nowMs);
    const blocks = [Buffer.from(JSON.stringify("a ".repeat(bytes / 2)))];
    const place = { requestId, accountId, keyId: `key of ${accountId}`, rules };
    return recorder.begin({ ...place, surface: "chat", isForm: false, blocks });
  };
  const end = (recording: Recording | undefined) => {
    recording?.settled("ok");
    recording?.[Symbol.dispose]();
  };
  const textOf = async (recording: Recording | undefined): Promise<string | undefined> => {
    end(recording);
    await recorder.flush();
    const row = (await rowsOf("a")).at(-1);
    return row && openRecording(masterKeys(), { ...row, salt: RULES.salt })?.answer?.text;
  };
  const samples = () => counted.families.map((family) => family.print()).join("\n");
  const rowsOf = async (accountId: string) => {
    const { db, tables } = storage.database;
    const { recordings } = tables;
    return db
      .select()
      .from(recordings)
      .where(eq(recordings.accountId, accountId))
      .orderBy(asc(recordings.requestId));
  };

  test("an account has a quarter of the memory, and what is not settled gives it back", async () => {
    const taken = Array.from({ length: 5 }, () => begin("a", MIB / 4 - 10));
    expect(taken.map((each) => each !== undefined)).toEqual([true, true, true, true, false]);
    expect(log.text()).toContain('"memory":1');
    const other = begin("b", MIB / 4 - 10);
    expect(other).toBeDefined();
    // An answer is cut where its account has no room; the request itself goes on.
    taken[0]?.addText("x".repeat(1_000));
    for (const recording of [...taken, other]) recording?.[Symbol.dispose]();
    const again = begin("a", MIB - 10);
    expect(again).toBeDefined();
    again?.[Symbol.dispose]();
    await recorder.flush();
    expect(await rowsOf("a")).toEqual([]);
  });

  test("an account keeps its newest recordings within its bytes", async () => {
    await addKey("a");
    for (let count = 0; count < 6; count += 1) {
      storage.clock.nowMs += 1;
      const recording = begin("a");
      recording?.addText(JSON.stringify(Array.from({ length: 60 }, () => Bun.randomUUIDv7("base64url"))));
      end(recording);
    }
    await recorder.flush();
    const rows = await rowsOf("a");
    expect(rows.length).toBeGreaterThan(1);
    expect(rows.length).toBeLessThan(6);
    expect(rows.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(6_000);
    expect(rows.at(-1)?.createdAtMs).toBe(storage.clock.nowMs);
    const [held] = await storage.database.db.select().from(storage.database.tables.recordingBytes);
    expect(held?.bytes).toBe(rows.reduce((sum, { bytes }) => sum + bytes, 0));
  });

  test("accounts that keep little take nothing from one that keeps more, also when all is full", async () => {
    const { database, now } = storage;
    const { recordingBytes } = database.tables;
    await addKey("a");
    await addKey("b");
    end(begin("a"));
    await recorder.flush();
    const [{ bytes = 0 } = {}] = await rowsOf("a");
    const small = Array.from({ length: 100 }, (_, at) => ({ accountId: `small ${at}`, bytes: 10 }));
    await database.db.insert(recordingBytes).values(small);
    const sweep = (totalBytes: number) =>
      sweepRecordings(database, {
        bounds: { accountBytes: 6_000, totalBytes },
        nowMs: now(),
        metrics: counted,
      });
    await sweep(bytes + 1_000);
    expect(await rowsOf("a")).toHaveLength(1);
    storage.clock.nowMs += 1;
    end(begin("a"));
    await recorder.flush();
    expect(await rowsOf("a")).toHaveLength(2);
    await sweep(1_000 + 1.5 * bytes);
    expect(await rowsOf("a")).toHaveLength(1);
    expect(samples()).toContain('tollgate_recordings_deleted_total{reason="room"} 1');
    expect(samples()).toContain('tollgate_recordings_total{result="stored"} 2');
  });

  test("what a clock that was ahead has written ends with the longest time that there is", async () => {
    const { database, clock } = storage;
    const bounds = { accountBytes: 6_000, totalBytes: 1_000_000 };
    const atMs = clock.nowMs;
    clock.nowMs += 365 * 86_400_000;
    const ahead = { ...RULES, untilMs: clock.nowMs + 86_400_000 };
    await addKey("a", ahead);
    const recording = begin("a", 1_000, ahead);
    end(recording);
    await recorder.flush();
    const [row] = await rowsOf("a");
    clock.nowMs = atMs;
    expect(begin("a", 1_000, ahead)).toBeUndefined();
    const place = { accountId: "a", requestId: row?.requestId ?? "", nowMs: atMs };
    expect(await findRecording(database, place)).toBeUndefined();
    await sweepRecordings(database, { bounds, nowMs: atMs, metrics: counted });
    expect(await rowsOf("a")).toEqual([]);
    expect(samples()).toContain('tollgate_recordings_deleted_total{reason="expired"} 1');
  });

  test.each([
    ["tokens", { choices: [{ message: { content: "x" }, logprobs: { content: [{ token: "ada@" }] } }] }],
    ["words", { text: "x", words: [{ word: "4111" }, { word: "1111" }] }],
  ])("an answer that spells its text out in %s is kept without them", async (_, answer) => {
    await addKey("a");
    const whole = begin("a");
    whole?.addText(JSON.stringify(answer));
    const text = (await textOf(whole)) ?? "";
    expect(text).toContain('"x"');
    expect(text).not.toMatch(/ada@|4111/);
    const cut = begin("a");
    cut?.addText(JSON.stringify(answer).slice(0, -1));
    expect(await textOf(cut)).toBeUndefined();
  });

  test("an account with slow rules lets the recordings of another pass", async () => {
    const expressions = Array.from({ length: 10 }, (_, index) => `([a-z ]{0,40}${index}){1,20}q`);
    const slow = { ...RULES, expressions };
    await addKey("a", slow);
    await addKey("b");
    // The pause after the first one lasts until the end of the test.
    const { promise, resolve } = Promise.withResolvers<void>();
    const pause = spyOn(platform, "sleep").mockReturnValue(promise);
    try {
      for (let count = 0; count < 2; count += 1) end(begin("a", 500_000, slow));
      end(begin("b"));
      await until(async () => (await rowsOf("b")).length === 1 && pause.mock.calls.length > 0);
      expect(await rowsOf("a")).toHaveLength(1);
    } finally {
      pause.mockRestore();
      resolve();
    }
  });

  test("a recording opens with both the master key and the salt, and with neither alone", async () => {
    await addKey("a");
    const recording = begin("a");
    recording?.addText('{"text":"secret words"}');
    end(recording);
    await recorder.flush();
    const [row] = await rowsOf("a");
    if (!row) throw new Error("Nothing was recorded");
    const { salt } = RULES;
    expect(openRecording(masterKeys(), { ...row, salt })?.answer?.text).toBe('{"text":"secret words"}');
    expect(openRecording([], { ...row, salt })).toBeUndefined();
    expect(openRecording(masterKeys(), { ...row, salt: MASTER })).toBeUndefined();
    expect(openRecording(masterKeys(), { ...row, salt, accountId: "b" })).toBeUndefined();
    expect(openRecording(masterKeys(), { ...row, salt, sealed: "AAAA" })).toBeUndefined();
    const other = readMasterKey(Buffer.alloc(32, 4).toString("base64url"));
    expect(other && openRecording([{ ...other, id: row.masterId }], { ...row, salt })).toBeUndefined();
  });

  test("a file of the answer is its type and length, and a form is its fields", async () => {
    await addKey("a");
    const form = new FormData();
    form.set("model", "whisper");
    form.set("file", new File(["x".repeat(5_000)], "talk.mp3", { type: "audio/mpeg" }));
    const blocks = [await new Response(form).bytes()];
    const place = { requestId: Bun.randomUUIDv7(), accountId: "a", keyId: "key of a", rules: RULES };
    const recording = recorder.begin({ ...place, surface: "transcriptions", isForm: true, blocks });
    recording?.addFile("audio/wav", 3_000);
    recording?.addFile("audio/wav", 2_000);
    end(recording);
    await recorder.flush();
    const [row] = await rowsOf("a");
    const content = row && openRecording(masterKeys(), { ...row, salt: RULES.salt });
    expect(JSON.parse(content?.request.text ?? "")).toEqual({
      model: "whisper",
      file: "[talk.mp3, audio/mpeg, 5000 bytes]",
    });
    expect(content?.answer).toMatchObject({ text: '"[audio/wav, 5000 bytes]"', length: 5_000 });
  });
});

test.each(["", "short", "A".repeat(44), `${"!".repeat(43)}=`, "A".repeat(64)])(
  "%j is no master key",
  (text) => expect(readMasterKey(text)).toBeUndefined(),
);
