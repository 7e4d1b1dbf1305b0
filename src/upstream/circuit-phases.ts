/** Time from opening to the first probe. Each failed probe doubles it, up to the maximum. */
const PROBE_DELAY_MIN_MS = 1000;
const PROBE_DELAY_MAX_MS = 30_000;

/** The delays of a rejected key, which only its owner can repair. */
const REJECTED_DELAY_MIN_MS = 60_000;
const REJECTED_DELAY_MAX_MS = 600_000;

/** Accounts of one person that are told apart from all others. */
const ACCOUNTS_MAX = 32;

/**
 * The right to call an upstream once. Its holder must report one of five outcomes: `succeeded`, `failed`,
 * `hostFailed`, `rejected` or `abandoned`. Only the first report counts.
 */
export interface Permit {
  /** The response has begun. Closes an open circuit; the outcome is still to be reported. */
  began(): void;
  /** The upstream works. */
  succeeded(): void;
  /**
   * The upstream does not work, for a reason that may lie in the request. `isOfOnePerson`: the failures before were
   * met by accounts of the same person, who is no witness of itself.
   */
  failed(isOfOnePerson?: boolean): void;
  /** The host cannot be reached, whatever it is asked. */
  hostFailed(): void;
  /** The upstream rejected the key. Opens the circuit at once: it is probed after 1 to 10 minutes. */
  rejected(): void;
  /** The call ended before the upstream showed whether it works. */
  abandoned(): void;
}

export interface CircuitOptions {
  /** Consecutive failures that open the circuit. */
  readonly failuresMax: number;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
  /** Called when the circuit opens or closes, and when the key of an open one is rejected. */
  readonly onChange?: (isOpen: boolean, isRejected: boolean) => void;
}

/** The time between two changes of the circuit. */
export type Phase = Closed | Open;

/** Every call gets a permit. */
interface Closed {
  readonly isOpen: false;
  consecutiveFailures: number;
  /** The accounts of all these failures, of one person; `undefined` without one, and when there are more people. */
  onlyFor: readonly string[] | undefined;
}

/** Only probes get a permit, from `probeFromMs` on. */
export interface Open {
  readonly isOpen: true;
  probeDelayMs: number;
  probeFromMs: number;
  latestProbe: CircuitPermit | undefined;
  /** Opened by an operator. Only an operator closes it. */
  readonly isForced: boolean;
  /** Opened by a rejected key. Only a call that began since then closes it: older ones prove nothing. */
  readonly isRejected: boolean;
  /** The only accounts whose calls are withheld; `undefined` for all. */
  onlyFor: readonly string[] | undefined;
}

const CLOSED: Closed = { isOpen: false, consecutiveFailures: 0, onlyFor: undefined };

/** The phases of one circuit. A failure counts only in the phase in which its call began. */
export class Phases {
  current: Phase = { ...CLOSED };
  readonly #options: CircuitOptions;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  succeed(permit: CircuitPermit): void {
    if (this.current.isOpen) this.close(permit);
    else this.current.consecutiveFailures = 0;
  }

  close(permit: CircuitPermit): void {
    const phase = this.current;
    if (!phase.isOpen || phase.isForced) return;
    if (!phase.isRejected || permit.phase === phase) this.setClosed();
  }

  setClosed(): void {
    this.current = { ...CLOSED };
    this.#options.onChange?.(false, false);
  }

  open({ isForced = false, isRejected = false, onlyFor }: Partial<Open>): void {
    const { clock, onChange } = this.#options;
    const wasOpen = this.current.isOpen;
    const probeDelayMs = isRejected ? REJECTED_DELAY_MIN_MS : PROBE_DELAY_MIN_MS;
    const probeFromMs = isForced ? Number.POSITIVE_INFINITY : clock() + probeDelayMs;
    const latestProbe = undefined;
    this.current = { isOpen: true, probeDelayMs, probeFromMs, latestProbe, isForced, isRejected, onlyFor };
    if (!wasOpen || isRejected) onChange?.(true, isRejected);
  }

  /** Counts a failure of an account's call; without an account, of the host. */
  countFailure(accountId?: string, isOfOnePerson = false): void {
    const phase = this.current;
    if (phase.isOpen) return;
    const isFirst = phase.consecutiveFailures === 0;
    const before = isFirst ? [] : phase.onlyFor;
    phase.onlyFor = accountId === undefined ? undefined : joined(before, accountId, isFirst || isOfOnePerson);
    phase.consecutiveFailures += 1;
    if (phase.consecutiveFailures >= this.#options.failuresMax) this.open({ onlyFor: phase.onlyFor });
  }

  metOnlyBy(): readonly string[] | undefined {
    const phase = this.current;
    return phase.isOpen || phase.consecutiveFailures > 0 ? phase.onlyFor : undefined;
  }

  fail(permit: CircuitPermit, { isRejected = false, isOfHost = false, isOfOnePerson = false } = {}): void {
    const phase = this.current;
    if (permit.phase !== phase) return;
    if (isRejected && !(phase.isOpen && (phase.isForced || phase.isRejected))) this.open({ isRejected });
    else if (!phase.isOpen) this.countFailure(isOfHost ? undefined : permit.accountId, isOfOnePerson);
    else if (isOpenFor(phase, permit.accountId)) failProbe(phase, permit, this.#options.clock());
    else this.#openFurther(permit.accountId, isOfOnePerson);
  }

  /** Withholds the calls of one more account of the person, or of all. */
  #openFurther(accountId: string, isOfOnePerson: boolean): void {
    const phase = this.current;
    if (phase.isOpen && isOfOnePerson) phase.onlyFor = joined(phase.onlyFor, accountId, true);
    else this.open({});
  }

  abandon(permit: CircuitPermit): void {
    const phase = this.current;
    if (phase.isOpen && phase.latestProbe === permit) phase.probeFromMs = this.#options.clock();
  }
}

/** One call of a circuit. Its first report ends it and changes the phase. */
export class CircuitPermit implements Permit {
  /** The phase in which the call began. */
  readonly phase: Phase;
  readonly accountId: string;
  isReported = false;
  readonly #phases: Phases;
  readonly #onEnd: () => void;

  constructor(phases: Phases, accountId: string, onEnd: () => void) {
    this.phase = phases.current;
    this.accountId = accountId;
    this.#phases = phases;
    this.#onEnd = onEnd;
  }

  began(): void {
    this.#phases.close(this);
  }

  succeeded(): void {
    if (this.#end()) this.#phases.succeed(this);
  }

  failed(isOfOnePerson = false): void {
    if (this.#end()) this.#phases.fail(this, { isOfOnePerson });
  }

  hostFailed(): void {
    if (this.#end()) this.#phases.fail(this, { isOfHost: true });
  }

  rejected(): void {
    if (this.#end()) this.#phases.fail(this, { isRejected: true });
  }

  abandoned(): void {
    if (this.#end()) this.#phases.abandon(this);
  }

  /** Returns whether this is the first report. */
  #end(): boolean {
    if (this.isReported) return false;
    this.isReported = true;
    this.#onEnd();
    return true;
  }
}

/** Whether calls of an account are withheld, except for probes. */
export function isOpenFor(phase: Phase, accountId: string): phase is Open {
  return phase.isOpen && (phase.onlyFor === undefined || phase.onlyFor.includes(accountId));
}

/** The accounts of one person with one more, at most 32; `undefined` when the account is of another person. */
function joined(
  accounts: readonly string[] | undefined,
  accountId: string,
  isOfOnePerson: boolean,
): readonly string[] | undefined {
  if (accounts === undefined || accounts.includes(accountId)) return accounts;
  return isOfOnePerson && accounts.length < ACCOUNTS_MAX ? [...accounts, accountId] : undefined;
}

/** Ignores probes other than the latest one, and calls with a forced permit. */
function failProbe(open: Open, permit: CircuitPermit, nowMs: number): void {
  if (open.latestProbe !== permit) return;
  const delayMaxMs = open.isRejected ? REJECTED_DELAY_MAX_MS : PROBE_DELAY_MAX_MS;
  open.probeDelayMs = Math.min(open.probeDelayMs * 2, delayMaxMs);
  open.probeFromMs = nowMs + open.probeDelayMs;
}
