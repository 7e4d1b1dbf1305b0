import { afterAll, beforeAll, expect } from "bun:test";
import type { Answer, Command } from "../../../src/ledger/core/command.ts";
import { decide } from "../../../src/ledger/core/decide.ts";
import type { Outcome } from "../../../src/ledger/core/outcome.ts";
import type { Store } from "../../../src/ledger/engine/store.ts";
import type { LedgerReads } from "../../../src/ledger/ledger.ts";
import type { Step } from "../commands.ts";
import { decideBatch, emptyWallet, type MemoryWallet } from "../memory-store.ts";
import { NOON_MS, WALLET } from "../samples.ts";

/** A store under test, with what is read of it and a clock that a test moves. */
export interface OpenStore {
  readonly store: Store;
  readonly reads: LedgerReads;
  readonly clock: { nowMs: number };
  /** Every row of a wallet in every table, in a fixed order, without the wallet's name. */
  dump(walletId: string): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

/** Opens stores for the tests of a file, and closes them after. */
export function useStore(open: () => Promise<OpenStore>) {
  let opened: OpenStore | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.close());
  return () => {
    if (!opened) throw new Error("the store is opened before the first test, not earlier");
    return opened;
  };
}

/** Commands that belong together, at one instant. */
interface Batch {
  readonly nowMs: number;
  readonly commands: readonly Command[];
}

/** What a batch came to: an answer or a refusal per command. */
type Said = { readonly answer: unknown } | { readonly refusal: string };

/** Cuts a life of a wallet into batches where time passes, and gives two wallets a share of it each. */
export function batchesOf(steps: readonly Step[]): readonly Batch[] {
  const batches: { nowMs: number; commands: Command[] }[] = [{ nowMs: NOON_MS, commands: [...FUNDED] }];
  for (const [index, step] of steps.entries()) {
    const last = batches.at(-1);
    if (!last) break;
    if ("passesMs" in step) batches.push({ nowMs: last.nowMs + step.passesMs, commands: [] });
    else last.commands.push(renamed(step.command, index % 3 === 0 ? "b" : "a"));
  }
  return batches.filter(({ commands }) => commands.length > 0);
}

/** The same commands on other wallets. */
function renamed<Any extends Command>(command: Any, walletId: string): Any {
  return { ...command, request: { ...command.request, walletId } };
}

/** Runs a batch as one transaction of a store. */
async function runBatch(store: Store, commands: readonly Command[]): Promise<readonly Said[]> {
  const outcomes: Outcome<Answer>[] = [];
  const walletIds = new Set(commands.map(({ request }) => request.walletId));
  await store.transact(walletIds, {
    collect: () => commands,
    decide(books, nowMs) {
      for (const command of commands) {
        const book = books.get(command.request.walletId);
        if (!book) throw new Error("a wallet's book was not read");
        const outcome = decide(book, command, nowMs);
        if ("changes" in outcome) book.apply(outcome.changes);
        outcomes.push(outcome);
      }
    },
  });
  return outcomes.map(saidOf);
}

/** Runs batches on a store, whole or command by command, each wallet under a name of the run. */
export async function runAll(
  { store, clock }: OpenStore,
  batches: readonly Batch[],
  { run, isWhole }: { readonly run: string; readonly isWhole: boolean },
): Promise<readonly Said[]> {
  const said: Said[] = [];
  for (const { nowMs, commands } of batches) {
    clock.nowMs = nowMs;
    const named = commands.map((command) => renamed(command, `${run}${command.request.walletId}`));
    const parts = isWhole ? [named] : named.map((command) => [command]);
    for (const part of parts) said.push(...(await runBatch(store, part)));
  }
  return said;
}

/** Runs batches on the pure rules, without any store. */
export function decideAll(batches: readonly Batch[]): readonly Said[] {
  const wallets = new Map<string, MemoryWallet>();
  return batches.flatMap(({ nowMs, commands }) => {
    return commands.flatMap((command) => {
      const { walletId } = command.request;
      const wallet = wallets.get(walletId) ?? emptyWallet();
      wallets.set(walletId, wallet);
      return decideBatch(wallet, [command], nowMs).map(saidOf);
    });
  });
}

/** What the reads say of a wallet, without its name. */
export async function readAll({ reads }: OpenStore, walletId: string) {
  const page = { size: 1000 };
  const all = {
    wallet: await reads.wallet(walletId),
    limits: await reads.spendLimits(walletId),
    receipts: await reads.receipts({ walletId }, page),
    transfers: await reads.transfers(walletId, page),
    usage: await reads.usage({ walletId, groupBy: ["hour", "key", "outcome"] }),
  };
  return JSON.parse(
    JSON.stringify(all, (_, value) => (typeof value === "bigint" ? `${value}n` : value)).replaceAll(
      `"${walletId}"`,
      '"the wallet"',
    ),
  );
}

export function expectSame(
  said: readonly Said[],
  expected: readonly Said[],
  batches: readonly Batch[],
): void {
  const commands = batches.flatMap((batch) => batch.commands);
  const told = (list: readonly Said[]) => commands.map((command, i) => [command.kind, list[i]]);
  expect(told(said)).toEqual(told(expected));
  expect(said).toHaveLength(expected.length);
}

function saidOf(outcome: Outcome<Answer>): Said {
  return "answer" in outcome ? { answer: outcome.answer } : { refusal: outcome.refusal };
}

const FUNDED: readonly Command[] = ["a", "b"].flatMap((walletId) => [
  renamed({ kind: "create_wallet", request: { walletId: WALLET } }, walletId),
  renamed({ kind: "top_up", request: { walletId: WALLET, topUpId: "t0", amount: 100n } }, walletId),
]);
