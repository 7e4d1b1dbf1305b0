/** One server's address. */
export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** Where the limiter's Redis is, and who we are there. */
export type RedisLocation = {
  readonly kind: "single" | "sentinel" | "cluster";
  /** The server; the sentinels; some nodes of the cluster. At least one. */
  readonly hosts: readonly RedisHost[];
  /** What the sentinels call the master; only for `sentinel`. */
  readonly masterName: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Number of the database; 0 in a cluster. */
  readonly db: number;
  /** `undefined` is plain text. */
  readonly tls:
    | {
        readonly ca: string | undefined;
        readonly cert: string | undefined;
        readonly key: string | undefined;
      }
    | undefined;
};

/** The kind, the hosts and the master's name, for the log: never who we are there. */
export function describeRedis({ kind, hosts, masterName }: RedisLocation): string {
  const addresses = hosts.map(describeHost).join(", ");
  if (kind === "single") return addresses;
  if (kind === "cluster") return `the cluster at ${addresses}`;
  return `the master "${masterName}" of the sentinels at ${addresses}`;
}

function describeHost({ host, port }: RedisHost): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
