import { afterAll, beforeAll, expect } from "bun:test";
import type { Command, CommandResult, Decision } from "../../../src/ledger/core/command.ts";
import { decide } from "../../../src/ledger/core/decide.ts";
import type { Store } from "../../../src/ledger/engine/store.ts";
import type { LedgerReads } from "../../../src/ledger/records.ts";
import type { Step } from "../commands.ts";
import { decideBatch, emptyWallet, type MemoryWallet } from "../memory-wallet.ts";
import { NOON_MS, WALLET } from "../samples.ts";

/** A store under test, with its reads and a clock that tests set. */
export interface OpenStore {
  readonly store: Store;
  readonly reads: LedgerReads;
  readonly clock: { nowMs: number };
  /** Returns every row of a wallet in every table, in a fixed order, without the wallet's id. */
  dump(walletId: string): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

/** Opens a store before the tests of a file and closes it after them. */
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

/** Commands decided together, at one instant. */
interface Batch {
  readonly nowMs: number;
  readonly commands: readonly Command[];
}

/** The result or the decline of one command. */
type Completion = { readonly result: unknown } | { readonly declined: string };

/** Splits steps into batches wherever time passes, and spreads the commands over two wallets, a and b. */
export function batchesOf(steps: readonly Step[]): readonly Batch[] {
  const batches: { nowMs: number; commands: Command[] }[] = [{ nowMs: NOON_MS, commands: [...FUNDED] }];
  for (const [index, step] of steps.entries()) {
    const last = batches.at(-1);
    if (!last) break;
    if ("passesMs" in step) batches.push({ nowMs: last.nowMs + step.passesMs, commands: [] });
    else last.commands.push(onWallet(step.command, index % 3 === 0 ? "b" : "a"));
  }
  return batches.filter(({ commands }) => commands.length > 0);
}

/** Returns a command with another wallet. */
function onWallet<Any extends Command>(command: Any, walletId: string): Any {
  return { ...command, request: { ...command.request, walletId } };
}

/** Runs commands in one transaction of a store. */
async function runBatch(store: Store, commands: readonly Command[]): Promise<readonly Completion[]> {
  const decisions: Decision<CommandResult>[] = [];
  const walletIds = new Set(commands.map(({ request }) => request.walletId));
  await store.transact(walletIds, {
    decisions,
    collect: () => commands,
    decide(env, nowMs) {
      decisions.length = 0;
      for (const command of commands) {
        const book = env.get(command.request.walletId);
        if (!book) throw new Error("a wallet's book was not read");
        const decision = decide(book, command, nowMs);
        if ("changes" in decision) book.apply(decision.changes);
        decisions.push(decision);
      }
      return decisions.every((decision) => "changes" in decision);
    },
  });
  return decisions.map(completionOf);
}

/** Runs batches on a store, whole or command by command. `run` prefixes the wallet ids. */
export async function runAll(
  { store, clock }: OpenStore,
  batches: readonly Batch[],
  { run, isWhole }: { readonly run: string; readonly isWhole: boolean },
): Promise<readonly Completion[]> {
  const completions: Completion[] = [];
  for (const { nowMs, commands } of batches) {
    clock.nowMs = nowMs;
    const named = commands.map((command) => onWallet(command, `${run}${command.request.walletId}`));
    const parts = isWhole ? [named] : named.map((command) => [command]);
    for (const part of parts) completions.push(...(await runBatch(store, part)));
  }
  return completions;
}

/** Decides batches with the rules alone, without a store. */
export function decideAll(batches: readonly Batch[]): readonly Completion[] {
  const wallets = new Map<string, MemoryWallet>();
  return batches.flatMap(({ nowMs, commands }) => {
    return commands.flatMap((command) => {
      const { walletId } = command.request;
      const wallet = wallets.get(walletId) ?? emptyWallet();
      wallets.set(walletId, wallet);
      return decideBatch(wallet, [command], nowMs).map(completionOf);
    });
  });
}

/** Returns all reads of a wallet, without its id. */
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
  completions: readonly Completion[],
  expected: readonly Completion[],
  batches: readonly Batch[],
): void {
  const commands = batches.flatMap((batch) => batch.commands);
  const byKind = (list: readonly Completion[]) => commands.map((command, i) => [command.kind, list[i]]);
  expect(byKind(completions)).toEqual(byKind(expected));
  expect(completions).toHaveLength(expected.length);
}

function completionOf(decision: Decision<CommandResult>): Completion {
  return "result" in decision ? { result: decision.result } : { declined: decision.declined };
}

const FUNDED: readonly Command[] = ["a", "b"].flatMap((walletId) => [
  onWallet({ kind: "create_wallet", request: { walletId: WALLET } }, walletId),
  onWallet({ kind: "top_up", request: { walletId: WALLET, topUpId: "t0", amount: 100n } }, walletId),
]);
