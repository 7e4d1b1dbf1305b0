import { SQL } from "bun";

/** Runtime parameters of every connection, as PostgreSQL names them. */
type SessionSettings = Readonly<Record<string, string | number>>;

export interface ConnectOptions {
  /** Connections at most. */
  readonly max: number;
  /** How long opening one may take, in seconds. Default 5. */
  readonly connectSeconds?: number;
  readonly session?: SessionSettings;
}

const CONNECT_SECONDS = 5;

const SESSION: SessionSettings = {
  application_name: "tollgate",
  // Compiling costs more than these statements do.
  jit: "off",
  // A commit that is answered is on disk, whatever the server's default is.
  synchronous_commit: "on",
  // Under a stricter one, whoever waited for a wallet's lock would fail instead of going on.
  default_transaction_isolation: "read committed",
};

/**
 * Reads a `postgres://` URL with libpq's parameters `host` (a socket's folder), `sslmode` (default
 * `disable`), `sslrootcert`, `sslcert` and `sslkey`. Returns what opens connections; it alone keeps the
 * password, so that no error can print it. Throws Error for a URL that is none.
 */
export function readPostgresUrl(text: string): (options: ConnectOptions) => SQL {
  const url = parse(text);
  const username = decodeURIComponent(url.username) || "postgres";
  const given = {
    adapter: "postgres",
    // The driver takes the mode of TLS from a URL only; the rest is said one by one, for it would
    // let variables of the environment stand in for parts of a URL.
    url: `postgres://localhost/?sslmode=${encodeURIComponent(url.searchParams.get("sslmode") ?? "disable")}`,
    hostname: url.searchParams.get("host") ?? url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 5432),
    username,
    password: decodeURIComponent(url.password),
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
