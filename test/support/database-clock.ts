import { SQL } from "bun";

/**
 * The clock of one PostgreSQL database, for connections that are opened after its start. It goes on by itself from the
 * time that it was set to. Timeouts and waits for locks last as long as ever: those are the server's.
 */
export interface DatabaseClock {
  /** Sets the clock, also back. Resolves when every connection sees it. */
  setTo(ms: number): Promise<void>;
  /** Sets the clock forward. A clock that is later already stays as it is. */
  passTo(ms: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Takes over the clock of a database: functions of the same names are found before those of PostgreSQL. A sequence
 * keeps how far they are ahead, because no transaction isolates it: statements that run see a change at once.
 */
export async function startDatabaseClock(url: string): Promise<DatabaseClock> {
  const client = new SQL(url, { max: 1 });
  const name = new URL(url).pathname.slice(1);
  await client.unsafe(FUNCTIONS).simple();
  await client.unsafe(`ALTER DATABASE ${name} SET search_path = public, scripted, pg_catalog`);
  const set = async (aheadMs: string, ms: number) => {
    await client.unsafe(`SELECT setval('scripted.ahead_ms', ${aheadMs}) FROM scripted.ahead_ms`, [ms]);
  };
  return {
    setTo: (ms) => set(AHEAD_MS, ms),
    passTo: (ms) => set(`greatest(last_value, ${AHEAD_MS})`, ms),
    close: () => client.close(),
  };
}

const AHEAD_MS = "$1::bigint - (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint";

/** Stable functions may look up an index, as PostgreSQL's own do. The clock within a statement is volatile. */
const FUNCTIONS = `CREATE SCHEMA scripted;
  CREATE SEQUENCE scripted.ahead_ms MINVALUE -100000000000000 START -100000000000000;
  ${functionOf("now", "STABLE")}
  ${functionOf("statement_timestamp", "STABLE")}
  ${functionOf("clock_timestamp", "VOLATILE")}`;

function functionOf(name: string, volatility: string): string {
  return `CREATE FUNCTION scripted.${name}() RETURNS timestamptz LANGUAGE sql ${volatility} AS
    $$ SELECT pg_catalog.${name}() + last_value * interval '1 millisecond' FROM scripted.ahead_ms $$;`;
}
