import { SQL } from "bun";

/** PostgreSQL runtime parameters of every connection. */
type SessionSettings = Readonly<Record<string, string | number>>;

export interface ConnectOptions {
  /** The maximum of connections. */
  readonly max: number;
  /** How long opening a connection may take, in seconds; 5 by default. */
  readonly connectSeconds?: number;
  readonly session?: SessionSettings;
}

const CONNECT_SECONDS = 5;

const SESSION: SessionSettings = {
  application_name: "tollgate",
  // Compiling would cost more than these statements.
  jit: "off",
  // An acknowledged commit must be on disk, whatever the default of the server.
  synchronous_commit: "on",
  // At a stricter level, a transaction that waited for the lock of a wallet would fail.
  default_transaction_isolation: "read committed",
};

/**
 * Parses a `postgres://` URL with the libpq parameters `host` (the folder of a socket), `sslmode` (default
 * `disable`), `sslrootcert`, `sslcert` and `sslkey`. Returns a function that opens connections. Only this
 * function holds the password, so that no error can print it. Each connection takes the password of
 * `currentUrl`. Throws Error for an invalid URL.
 *
 * @see https://www.postgresql.org/docs/current/libpq-connect.html
 */
export function readPostgresUrl(
  text: string,
  currentUrl: () => string = () => text,
): (options: ConnectOptions) => SQL {
  const url = parse(text);
  const username = decodeURIComponent(url.username) || "postgres";
  const given = {
    adapter: "postgres",
    // The driver reads the TLS mode from a URL only. Everything else is given as options, because the driver
    // replaces missing parts of a URL by environment variables.
    url: `postgres://localhost/?sslmode=${encodeURIComponent(url.searchParams.get("sslmode") ?? "disable")}`,
    hostname: url.searchParams.get("host") ?? url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 5432),
    username,
    password: () => decodeURIComponent(parse(currentUrl()).password),
    database: decodeURIComponent(url.pathname.slice(1)) || username,
    ...readCertificates(url.searchParams),
  } as const;
  return ({ max, connectSeconds = CONNECT_SECONDS, session }) =>
    new SQL({
      ...given,
      max,
      bigint: true,
      connectionTimeout: connectSeconds,
      connection: { ...SESSION, ...session },
    });
}

function parse(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "postgres:" && url?.protocol !== "postgresql:") {
    throw new Error("Cannot read the database's URL: it must begin with postgres:// and be a URL");
  }
  return url;
}

function readCertificates(parameters: URLSearchParams) {
  const file = (name: string) => {
    const path = parameters.get(name);
    return path === null ? undefined : Bun.file(path);
  };
  const [ca, cert, key] = [file("sslrootcert"), file("sslcert"), file("sslkey")];
  if (!ca && !cert) return {};
  return { tls: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) } };
}

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
