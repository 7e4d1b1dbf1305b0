import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { RedisClient, SQL } from "bun";
import { startPostgresServer } from "./postgres-server.ts";
import { startRedisServer, testRedisUrl } from "./redis-server.ts";
import { createEmptyDatabase } from "./test-database.ts";
import { until } from "./until.ts";

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new SQL(url, { max: 1 });
  try {
    return [...(await client.unsafe(statement))];
  } finally {
    await client.close();
  }
}

describe("a test database", () => {
  test("is empty and separate from others, and is gone after it is dropped", async () => {
    const [one, other] = await Promise.all([createEmptyDatabase(), createEmptyDatabase()]);
    await query(one.url, "CREATE TABLE things (id bigint)");
    const tables = "SELECT count(*)::int AS count FROM pg_tables WHERE tablename = 'things'";
    expect(await query(one.url, tables)).toEqual([{ count: 1 }]);
    expect(await query(other.url, tables)).toEqual([{ count: 0 }]);
    const client = new SQL(one.url, { max: 1 });
    await client.unsafe("SELECT 1");
    await one.drop();
    await other.drop();
    await client.close();
    const name = new URL(one.url).pathname.slice(1);
    const third = await createEmptyDatabase();
    expect(await query(third.url, `SELECT 1 FROM pg_database WHERE datname = '${name}'`)).toEqual([]);
    await third.drop();
  });
});

describe("a private PostgreSQL", () => {
  test("uses fsync, keeps its commits over a kill, and leaves no files behind", async () => {
    const server = await startPostgresServer();
    expect(await query(server.url, "SHOW fsync")).toEqual([{ fsync: "on" }]);
    await query(server.url, "CREATE TABLE things AS SELECT 7 AS id");
    const first = server.pid();
    await server.kill();
    expect(isAlive(first)).toBe(false);
    await server.start();
    expect(await query(server.url, "SELECT id FROM things")).toEqual([{ id: 7 }]);
    const second = server.pid();
    expect(second).not.toBe(first);
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("postgres-")).length;
    const before = folders();
    await server.stop();
    expect(isAlive(second)).toBe(false);
    expect(folders()).toBe(before - 1);
  });

  test("reports the cause at once when it cannot start", async () => {
    const starting = startPostgresServer({ isDurable: false, settings: { shared_buffers: "a lot" } });
    await expect(starting).rejects.toThrow(/did not start: (.|\n)*shared_buffers/);
  });

  test("ends with the process that started it, also when that is killed", () =>
    expectEndWithStarter("postgres"));
});

describe("the shared Redis", () => {
  test("answers, and is one for the whole process", async () => {
    const url = await testRedisUrl();
    expect(await testRedisUrl()).toBe(url);
    const client = new RedisClient(url);
    expect(await client.send("PING", [])).toBe("PONG");
    client.close();
  });
});

describe("a private Redis", () => {
  test("is empty after a kill, keeps its port, and leaves no files behind", async () => {
    const server = await startRedisServer();
    const client = new RedisClient(server.url);
    await client.set("a", "1");
    client.close();
    const first = server.pid();
    await server.kill();
    expect(isAlive(first)).toBe(false);
    await server.start();
    expect(server.pid()).not.toBe(first);
    expect(await server.ask("EXISTS", "a")).toBe(0);
    const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("redis-")).length;
    const before = folders();
    await server.stop();
    expect(folders()).toBe(before - 1);
  });

  test("keeps its data over a kill with appendonly", async () => {
    const server = await startRedisServer({ settings: { appendonly: "yes", appendfsync: "always" } });
    await server.ask("SET", "a", 1);
    await server.kill();
    await server.start();
    expect(await server.ask("GET", "a")).toBe("1");
    await server.stop();
  });

  test("requires the login of its URL", async () => {
    const server = await startRedisServer({ user: { name: "someone", password: "secret" } });
    const client = new RedisClient(server.url);
    expect(await client.send("PING", [])).toBe("PONG");
    client.close();
    const stranger = new RedisClient(`redis://127.0.0.1:${server.port}`, { autoReconnect: false });
    const [attempt] = await Promise.allSettled([stranger.send("PING", [])]);
    expect(attempt?.status).toBe("rejected");
    stranger.close();
    await server.stop();
  });

  test("does not answer while it is frozen, and answers pending commands after it is thawed", async () => {
    const server = await startRedisServer();
    server.freeze();
    const asked = server.ask("PING");
    expect(await Promise.race([asked, Bun.sleep(50).then(() => "silence")])).toBe("silence");
    server.thaw();
    expect(await asked).toBe("PONG");
    await server.stop();
  });

  test("reports the cause at once when it cannot start", async () => {
    const [starting] = await Promise.allSettled([startRedisServer({ settings: { maxclients: "many" } })]);
    expect(`${starting?.status === "rejected" && starting.reason}`).toMatch(
      /did not start: (.|\n)*maxclients/,
    );
  });

  test("ends with the process that started it, also when it is frozen and its starter is killed", () =>
    expectEndWithStarter("redis"));
});

/** Kills the process that started a server, and waits until the server and its folder are gone. */
async function expectEndWithStarter(kind: "postgres" | "redis"): Promise<void> {
  const starter = Bun.spawn([process.execPath, join(import.meta.dir, "server-process.ts"), kind], {
    cwd: resolve(import.meta.dir, "../.."),
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await starter.stdout.getReader().read();
  const { pid, folder } = JSON.parse(new TextDecoder().decode(value));
  expect(isAlive(pid)).toBe(true);
  starter.kill("SIGKILL");
  await until(() => !isAlive(pid) && !existsSync(folder));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
