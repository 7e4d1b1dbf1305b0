/** A seed that once broke a rule. In later code it is another world: it may no longer show what it showed. */
interface FailedSeed {
  readonly seed: number;
  /** The code that it failed on. */
  readonly commit: string;
  readonly step: number;
  /** What happened there. */
  readonly showed: string;
}

/** Run by the test command, with the worlds that they have now. A fault of the program has a test of its own. */
export const FAILED_SEEDS: readonly FailedSeed[] = [
  {
    seed: 20783075,
    commit: "d66c609e",
    step: 36126,
    showed: "a failed sync of the ledger and a loss of power forget a hold, and its settlement is declined",
  },
  {
    seed: 1795706346,
    commit: "f4c0cf6c",
    step: 3133,
    showed: "a sync that began earlier and ended later made the power model forget what was synced",
  },
];
