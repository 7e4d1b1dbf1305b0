import type { Config, LedgerProcessConfig } from "../config/config.ts";
import type { DatabaseLocation } from "../db/location.ts";
import type { RedisLocation } from "../limiter/redis/location.ts";

/** The settings that hold a secret of the environment, which may be rotated while a process runs. */
export type SecretSettings = Pick<Config, "database" | "ledger" | "sealing" | "limiter" | "console">;
type StorageSecrets = Pick<LedgerProcessConfig, "database" | "ledger" | "sealing">;

/** A configuration whose secrets are those of the latest `renew`: each must be read when it is used. */
export interface LiveSecrets<Settings> {
  readonly config: Settings;
  renew(next: Partial<Settings>): void;
}

/** Follows the secrets of a gateway: of database, ledger, Redis, mail server and Stripe. */
export function followSecrets(started: Config): LiveSecrets<Config> {
  let latest: SecretSettings = started;
  const { console, limiter } = started;
  const config: Config = {
    ...started,
    ...liveStorage(started, () => latest),
    limiter: { ...limiter, redis: limiter.redis && liveRedis(limiter.redis, () => latest.limiter.redis) },
    console: {
      ...console,
      mail: console.mail && {
        from: console.mail.from,
        get url() {
          return latest.console.mail?.url ?? "";
        },
      },
      get recordingKeys() {
        return latest.console.recordingKeys;
      },
      stripe: {
        get secretKey() {
          return latest.console.stripe.secretKey;
        },
        get webhookSecret() {
          return latest.console.stripe.webhookSecret;
        },
      },
    },
  };
  return {
    config,
    renew({ database, ledger, sealing, limiter, console }) {
      latest = {
        database: database ?? latest.database,
        ledger: ledger ?? latest.ledger,
        sealing: sealing ?? latest.sealing,
        limiter: limiter ?? latest.limiter,
        console: console ?? latest.console,
      };
    },
  };
}

/** Follows the secrets of a ledger process: of its database, and its token. */
export function followStorageSecrets(started: LedgerProcessConfig): LiveSecrets<LedgerProcessConfig> {
  let latest: StorageSecrets = started;
  return {
    config: { ...started, ...liveStorage(started, () => latest) },
    renew({ database = latest.database, ledger = latest.ledger, sealing = latest.sealing }) {
      latest = { database, ledger, sealing };
    },
  };
}

function liveStorage(started: StorageSecrets, latest: () => StorageSecrets): StorageSecrets {
  return {
    database: liveDatabase(started.database, () => latest().database),
    ledger: {
      ...started.ledger,
      get tokens() {
        return latest().ledger.tokens;
      },
    },
    sealing: {
      get keys() {
        return latest().sealing?.keys ?? [];
      },
    },
  };
}

function liveDatabase(started: DatabaseLocation, latest: () => DatabaseLocation): DatabaseLocation {
  if (started.dialect === "sqlite") return started;
  return {
    dialect: "postgres",
    get url() {
      const location = latest();
      return location.dialect === "postgres" ? location.url : started.url;
    },
  };
}

function liveRedis(started: RedisLocation, latest: () => RedisLocation | undefined): RedisLocation {
  return {
    ...started,
    get password() {
      return latest()?.password;
    },
  };
}
