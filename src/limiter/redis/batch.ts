import type { Script, ScriptArgument } from "./scripts.ts";
import { CHUNK_SIZE } from "./turns.ts";

/** One request to a script that takes many: its share of the keys and arguments, and of the reply. */
export interface ScriptRequest {
  /** Requests of one group go together: what one server keeps. */
  readonly group: string;
  readonly keys: readonly string[];
  readonly args: readonly ScriptArgument[];
}

interface Waiting extends ScriptRequest {
  resolve(reply: readonly number[]): void;
  reject(fault: unknown): void;
}

/**
 * Runs a script once for all requests of one turn of the event loop: a hot caller is loaded and saved once
 * for all of them. The script's reply has `replyLength` numbers for each request, in the same order.
 */
export function createScriptBatches(
  script: Script,
  replyLength: number,
): (request: ScriptRequest) => Promise<readonly number[]> {
  const waiting = new Map<string, Waiting[]>();
  const send = (batch: readonly Waiting[]) => void run(script, replyLength, batch);

  function flush(): void {
    const batches = [...waiting.values()];
    waiting.clear();
    for (const batch of batches) send(batch);
  }

  return (request) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
    const batch = waiting.get(request.group) ?? [];
    if (waiting.size === 0) setImmediate(flush);
    waiting.set(request.group, batch);
    // A full one leaves at once: Redis works on it while this turn goes on.
    if (batch.push({ ...request, resolve, reject }) === CHUNK_SIZE) {
      waiting.delete(request.group);
      send(batch);
    }
    return promise;
  };
}

async function run(script: Script, replyLength: number, batch: readonly Waiting[]): Promise<void> {
  try {
    const reply = await script(
      batch.flatMap(({ keys }) => keys),
      batch.flatMap(({ args }) => args),
    );
    checkReply(reply, replyLength * batch.length);
    batch.forEach(({ resolve }, index) => {
      resolve(reply.slice(index * replyLength, (index + 1) * replyLength));
    });
  } catch (fault) {
    for (const { reject } of batch) reject(fault);
  }
}

/** Throws TypeError: what is no answer of the script must not let anybody in. */
function checkReply(reply: readonly number[], length: number): void {
  if (!Array.isArray(reply) || reply.length !== length || !reply.every(Number.isInteger)) {
    throw new TypeError("Redis answered a script with something else");
  }
}
