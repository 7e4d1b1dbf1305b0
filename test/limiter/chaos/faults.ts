import type { RedisServer } from "../../support/redis-server.ts";

/** A fault of Redis. It is over when the promise resolves. */
export interface RedisFault {
  /** Whether all counts in Redis are lost. */
  readonly losesData: boolean;
  /** Whether requests are decided without Redis meanwhile. */
  readonly isOutage: boolean;
  strike(server: RedisServer, ms: number): Promise<void>;
}

export const FAULTS = {
  pause: {
    losesData: false,
    isOutage: true,
    async strike(server, ms) {
      await server.ask("CLIENT", "PAUSE", ms, "ALL");
      await Bun.sleep(ms);
    },
  },
  freeze: {
    losesData: false,
    isOutage: true,
    async strike(server, ms) {
      server.freeze();
      await Bun.sleep(ms);
      server.thaw();
    },
  },
  shutdown: {
    losesData: true,
    isOutage: true,
    async strike(server, ms) {
      await server.shutdown();
      await Bun.sleep(ms);
      await server.start();
    },
  },
  flush: {
    losesData: true,
    isOutage: false,
    strike: async (server) => void (await server.ask("FLUSHALL")),
  },
  forget: {
    losesData: false,
    isOutage: false,
    strike: async (server) => void (await server.ask("SCRIPT", "FLUSH")),
  },
} as const satisfies Record<string, RedisFault>;
