import { printLine } from "../../src/exports/line.ts";
import { type ExportConnection, openExportConnection } from "../../src/ledger/exports/connection.ts";
import { type ExportCursor, moveCursor, openCursor, readCursor } from "../../src/ledger/exports/cursor.ts";
import { type ExportEntry, readPage } from "../../src/ledger/exports/page.ts";
import type { OutcomeFacts } from "../../src/ledger/records.ts";
import { DIALECTS, openTempStorage, type TempStorage } from "../accounts/temp-storage.ts";
import { FACTS, holdIdOf } from "../ledger/samples.ts";

export { DIALECTS };

/** A line, as a receiver parses it. */
export interface ParsedLine {
  readonly id: string;
  readonly type: string;
  readonly account_id: string;
  readonly account_name: string | null;
  readonly key_name: string | null;
  readonly transfer: {
    readonly seq: number;
    readonly kind: string;
    readonly amount_usd: string;
    readonly balance_after_usd: string;
  } | null;
  readonly receipt: {
    readonly request_id: string;
    readonly state: string;
    readonly charged_usd: string;
  } | null;
}

export interface ExportEnv extends TempStorage {
  readonly connection: ExportConnection;
  /** Creates the cursor of an export. */
  open(name: string, start?: "beginning" | "now"): Promise<void>;
  cursor(name: string): Promise<ExportCursor>;
  /** Reads page after page and moves the cursor behind each. Returns the lines. */
  takeAll(name: string, max?: number): Promise<readonly ParsedLine[]>;
  /** Takes a hold and ends it: `undefined` releases it. Returns its id. */
  spend(walletId: string, amount: bigint | undefined, facts?: OutcomeFacts): Promise<string>;
}

/** Opens a database of its own with a ledger and a connection for exports. */
export async function openExportEnv(dialect: (typeof DIALECTS)[number]): Promise<ExportEnv> {
  const storage = await openTempStorage(dialect);
  const { ledger, clock } = storage;
  const connection = openExportConnection(storage.database);
  let requests = 0;

  const cursor = async (name: string) => {
    const found = await readCursor(connection, name);
    if (!found) throw new Error(`There is no export ${name}`);
    return found;
  };
  return {
    ...storage,
    connection,
    cursor,
    async open(name, start = "beginning") {
      await openCursor(connection, { name, start, nowMs: clock.nowMs });
      // What ends within ten minutes may come twice: clocks differ.
      clock.nowMs += 3_600_000;
    },
    async takeAll(name, max = 7) {
      const taken: ParsedLine[] = [];
      for (;;) {
        const { entries, move } = await readPage(connection, await cursor(name), max);
        if (entries.length === 0 && !move) return taken;
        taken.push(...parse(entries));
        for (const each of [...entries.map((entry) => entry.move), ...(move ? [move] : [])]) {
          if (!(await moveCursor(connection, await cursor(name), each)))
            throw new Error("The cursor did not move");
        }
      }
    },
    async spend(walletId, amount, facts = FACTS) {
      const holdId = holdIdOf(`request ${++requests}`, clock.nowMs + requests);
      const request = { surface: "chat", model: "demo" };
      const money = { amount: amount ?? 1n, minimum: amount ?? 1n, ttlMs: 60_000 };
      await ledger.hold({ walletId, holdId, keyId: "k1", facts: request, ...money });
      if (amount === undefined) await ledger.release({ walletId, holdId, facts });
      else await ledger.settle({ walletId, holdId, amount, facts });
      return holdId;
    },
    async close() {
      await connection.close();
      await storage.close();
    },
  };
}

export function parse(entries: readonly ExportEntry[]): readonly ParsedLine[] {
  return entries.map((entry) => JSON.parse(printLine(entry).text));
}
