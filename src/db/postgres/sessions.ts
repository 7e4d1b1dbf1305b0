import { readPostgresUrl } from "./connection.ts";

/** Counts the connections of Tollgate processes to a database, which may have no tables. */
export async function countTollgateSessions(url: string): Promise<number> {
  const client = readPostgresUrl(url)({ max: 1 });
  try {
    const [row] = await client.unsafe(
      `SELECT count(*) AS count FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'tollgate%' AND pid <> pg_backend_pid()`,
    );
    return Number(row.count);
  } finally {
    await client.close();
  }
}
