import { requestBody, SLOW_MODEL } from "./answers.ts";
import { openConnection, printRequest, type Target } from "./connection.ts";
import { createTally, type Tally } from "./tally.ts";

/** Streams that have all begun and none of which has ended. */
export interface OpenStreams {
  /** Resolves when every stream has ended, which the upstream decides. */
  ended(): Promise<Tally>;
}

const OPENED_AT_ONCE = 100;

/** Opens streams and waits for the first event of each. */
export async function openStreams(target: Target, count: number): Promise<OpenStreams> {
  const request = printRequest(target, requestBody({ model: SLOW_MODEL, stream: true }));
  const tally = createTally(true);
  const ends: Promise<void>[] = [];

  async function open(): Promise<void> {
    const first = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const connection = await openConnection(target.url, {
      onFirstBody: first.resolve,
      onAnswer(answer) {
        tally.count(answer);
        finish();
      },
      onBroken(reason) {
        tally.fail(reason);
        finish();
      },
    });
    function finish(): void {
      first.resolve();
      end.resolve();
      connection.close();
    }
    ends.push(end.promise);
    connection.send(request, { keepBody: tally.isLookedInto() });
    await first.promise;
  }

  for (let opened = 0; opened < count; opened += OPENED_AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(OPENED_AT_ONCE, count - opened) }, open));
  }
  return {
    async ended() {
      await Promise.all(ends);
      return tally.sum();
    },
  };
}
