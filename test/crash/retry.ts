import { LedgerError } from "../../src/ledger/ledger.ts";

const PAUSE_MS = 50;

/** Repeats a command while its result is unknown. */
export async function retry<Answer>(submit: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await submit();
    } catch (error) {
      const mayPass = error instanceof LedgerError && ["unavailable", "queue_full"].includes(error.code);
      if (!mayPass) throw error;
      await Bun.sleep(PAUSE_MS);
    }
  }
}
