import { createHash } from "node:crypto";
import type { Cluster, Redis } from "ioredis";
import admit from "./admit.lua" with { type: "text" };
import caller from "./caller.lua" with { type: "text" };
import clock from "./clock.lua" with { type: "text" };
import leases from "./leases.lua" with { type: "text" };
import renew from "./renew.lua" with { type: "text" };
import restore from "./restore.lua" with { type: "text" };
import settle from "./settle.lua" with { type: "text" };
import usage from "./usage.lua" with { type: "text" };
import window from "./window.lua" with { type: "text" };

const MAIN = { admit, settle, renew, usage, restore };

export type ScriptArgument = string | number;

/** Runs a script; its reply is as the header of its `.lua` file says. */
export type Script = (keys: readonly string[], args: readonly ScriptArgument[]) => Promise<readonly number[]>;

/** Lua that defines `clock_ms()`, the time of a script. */
export const REDIS_CLOCK = clock;

/** The limiter's scripts on a server or a cluster. */
export function createScripts(
  client: Redis | Cluster,
  clockLua: string,
): Readonly<Record<keyof typeof MAIN, Script>> {
  const of = (main: string) => createScript(client, [window, clockLua, leases, caller, main].join("\n"));
  return {
    admit: of(MAIN.admit),
    settle: of(MAIN.settle),
    renew: of(MAIN.renew),
    usage: of(MAIN.usage),
    restore: of(MAIN.restore),
  };
}

/** Sends the script's name only, and its text where the server does not know it yet, or any more. */
function createScript(client: Redis | Cluster, lua: string): Script {
  const sha = createHash("sha1").update(lua).digest("hex");
  return async (keys, args) => {
    try {
      return (await client.evalsha(sha, keys.length, ...keys, ...args)) as number[];
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return (await client.eval(lua, keys.length, ...keys, ...args)) as number[];
    }
  };
}
