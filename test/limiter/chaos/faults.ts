import type { RedisServer } from "../../support/redis-server.ts";

/** Something that happens to a Redis, and is over when the promise resolves. */
export interface RedisFault {
  /** Of what Redis knew of limits, none is left afterwards. */
  readonly losesData: boolean;
  /** Requests are decided without Redis meanwhile. */
  readonly isAbsence: boolean;
  strike(server: RedisServer, ms: number): Promise<void>;
}

export const FAULTS = {
  pause: {
    losesData: false,
    isAbsence: true,
    async strike(server, ms) {
      await server.ask("CLIENT", "PAUSE", ms, "ALL");
      await Bun.sleep(ms);
    },
  },
  freeze: {
    losesData: false,
    isAbsence: true,
    async strike(server, ms) {
      server.freeze();
      await Bun.sleep(ms);
      server.thaw();
    },
  },
  shutdown: {
    losesData: true,
    isAbsence: true,
    async strike(server, ms) {
      await server.shutdown();
      await Bun.sleep(ms);
      await server.start();
    },
  },
  flush: {
    losesData: true,
    isAbsence: false,
    strike: async (server) => void (await server.ask("FLUSHALL")),
  },
  forget: {
    losesData: false,
    isAbsence: false,
    strike: async (server) => void (await server.ask("SCRIPT", "FLUSH")),
  },
} as const satisfies Record<string, RedisFault>;
