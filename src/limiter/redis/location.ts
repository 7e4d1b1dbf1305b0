/** Address of one server. */
export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** Addresses and credentials of the limiter's Redis. */
export type RedisLocation = {
  readonly kind: "single" | "sentinel" | "cluster";
  /** At least one: the server, the sentinels, or some nodes of the cluster. */
  readonly hosts: readonly RedisHost[];
  /** The master's name at the sentinels; `undefined` unless `kind` is `sentinel`. */
  readonly masterName: string | undefined;
  readonly username: string | undefined;
  /** Read again for each connection, as it may be rotated. */
  readonly password: string | undefined;
  /** Database number; 0 in a cluster. */
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

/** Formats kind, hosts and master name for the log, without credentials. */
export function describeRedis({ kind, hosts, masterName }: RedisLocation): string {
  const addresses = hosts.map(describeHost).join(", ");
  if (kind === "single") return addresses;
  if (kind === "cluster") return `the cluster at ${addresses}`;
  return `the master "${masterName}" of the sentinels at ${addresses}`;
}

function describeHost({ host, port }: RedisHost): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
