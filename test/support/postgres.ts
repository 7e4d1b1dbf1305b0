import { SQL } from "bun";
import { startPostgresServer } from "./postgres-server.ts";

/** An empty database. */
export interface TestDatabase {
  readonly url: string;
  /** Removes it, connections or not. */
  drop(): Promise<void>;
}

let serverUrl: Promise<string> | undefined;

/**
 * Creates a database on the server of `TEST_DATABASE_URL`, where we may create databases, or else on a
 * private one, which is started once for all tests of the run and does without fsync.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  serverUrl ??= findServer();
  const admin = await serverUrl;
  const name = `tollgate_test_${crypto.randomUUID().replaceAll("-", "")}`;
  await runStatement(admin, `CREATE DATABASE ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => runStatement(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function findServer(): Promise<string> {
  const given = process.env.TEST_DATABASE_URL;
  return given ? given : (await startPostgresServer({ isDurable: false })).url;
}

async function runStatement(url: string, statement: string): Promise<void> {
  const client = new SQL(url, { max: 1 });
  try {
    await client.unsafe(statement);
  } finally {
    await client.close();
  }
}
