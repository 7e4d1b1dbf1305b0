import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { SQL } from "bun";
import { connectDatabase } from "../../src/db/database.ts";
import { startPostgresServer } from "./postgres-server.ts";
import { tempFolder } from "./temp-folder.ts";

/** A PostgreSQL database of one test. */
export interface TestDatabase {
  readonly url: string;
  /** Removes the database, also while connections are open. */
  drop(): Promise<void>;
}

/** Migrated databases that tests copy: a migration takes ten times as long as a copy. */
export interface DatabaseTemplates {
  /** Name of a PostgreSQL database on the server of `TEST_DATABASE_URL`. */
  readonly TEST_DATABASE_TEMPLATE: string;
  /** Path of a SQLite file. */
  readonly TEST_SQLITE_TEMPLATE: string;
}

let serverUrl: Promise<string> | undefined;
let template: Promise<string> | undefined;

/**
 * Creates a migrated database on the server of `TEST_DATABASE_URL`, or on a private server without fsync, which
 * is started once per process.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  serverUrl ??= findServer();
  const admin = await serverUrl;
  template ??= findTemplate(admin);
  return createDatabase(admin, `TEMPLATE ${await template}`);
}

/** Creates a database without tables on the server that `createTestDatabase` uses. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  serverUrl ??= findServer();
  return createDatabase(await serverUrl);
}

/** Copies a database that no connection is open to. */
export async function copyTestDatabase(url: string): Promise<TestDatabase> {
  serverUrl ??= findServer();
  return createDatabase(await serverUrl, `TEMPLATE ${new URL(url).pathname.slice(1)}`);
}

/** Migrates one database of each dialect for a run of many test files. */
export async function createTemplates(admin: string): Promise<DatabaseTemplates> {
  const path = join(tempFolder(), "template.db");
  await migrate({ dialect: "sqlite", path });
  return { TEST_DATABASE_TEMPLATE: await createTemplate(admin), TEST_SQLITE_TEMPLATE: path };
}

/** Removes the templates of a run. */
export async function dropTemplates(admin: string, made: Partial<DatabaseTemplates>): Promise<void> {
  const { TEST_DATABASE_TEMPLATE: name, TEST_SQLITE_TEMPLATE: path } = made;
  if (path) rmSync(dirname(path), { recursive: true, force: true });
  if (name) await runStatement(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

async function findServer(): Promise<string> {
  const given = process.env.TEST_DATABASE_URL;
  return given ? given : (await startPostgresServer({ isDurable: false })).url;
}

async function findTemplate(admin: string): Promise<string> {
  return process.env.TEST_DATABASE_TEMPLATE || createTemplate(admin);
}

async function createTemplate(admin: string): Promise<string> {
  const { url } = await createDatabase(admin);
  await migrate({ dialect: "postgres", url });
  return new URL(url).pathname.slice(1);
}

async function migrate(location: Parameters<typeof connectDatabase>[0]): Promise<void> {
  const database = await connectDatabase(location);
  await database.close();
}

async function createDatabase(admin: string, source = ""): Promise<TestDatabase> {
  const name = `tollgate_test_${crypto.randomUUID().replaceAll("-", "")}`;
  // A copy of the files costs half of a copy through the log.
  await runStatement(admin, `CREATE DATABASE ${name} ${source && `${source} STRATEGY FILE_COPY`}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => runStatement(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

const admins = new Map<string, SQL>();

/** Runs a statement on a connection that this process keeps: to open one costs more than most statements. */
async function runStatement(url: string, statement: string): Promise<void> {
  const client = admins.get(url) ?? new SQL(url, { max: 1 });
  admins.set(url, client);
  await client.unsafe(statement);
}
