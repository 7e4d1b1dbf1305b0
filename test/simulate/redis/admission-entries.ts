const MINUTE_MS = 60_000;
const LEASE_MS = 30_000;
/** A gateway with Redis for this long has renewed every lease. */
const RENEWED_MS = 12_000;
/** A gateway with Redis for this long has sent what it admitted without Redis. */
const RESTORED_MS = 1_500;
/** How much later than its admission Redis may count a request that it learns of late. */
const LATE_MS = 8_000;

/** One process of a gateway, as the model needs it. Times are of the clock that cannot be set. */
export interface FollowedGateway {
  readonly name: string;
  /** How many gateways it takes to share the Redis. */
  readonly replicas: () => number;
  isAlive: boolean;
  /** Whether it counts in Redis. */
  isShared: boolean;
  changedAtMs: number;
  /** When an outage ended that was long enough to lose leases, as Redis counts time. */
  longOutageEndedAtMs: number;
}

/** One request of a key or an account. `…AtMs` is time as Redis counts it. */
export interface Entry {
  readonly gateway: FollowedGateway;
  readonly askedAtMs: number;
  /** On the clock that cannot be set. */
  readonly askedMs: number;
  answeredAtMs: number;
  /** Who decided. */
  by: string | undefined;
  state: "in doubt" | "declined" | "admitted" | "cancelled";
  /** The tokens that count at least, and at most. */
  least: number;
  most: number;
  /** Whether Redis has lost it. */
  isLost: boolean;
  /** Whether Redis has learned of it after an outage. */
  isRestored: boolean;
  endedAtMs: number | undefined;
  /** How far the clock was set forward before Redis had answered: what reaches it later counts from then. */
  setForwardMs: number;
}

/** When Redis decided, and what it had lost. */
export interface Moment {
  /** Now, and when Redis was asked, on the clock that cannot be set. */
  readonly ms: number;
  readonly askedMs: number;
  /** Now, as Redis counts time. */
  readonly nowMs: number;
  readonly leasesLostMs: number;
  readonly setForwardMs: number;
}

/** What Redis must count in a minute. */
export function countWindow(entries: readonly Entry[], moment: Moment): { requests: number; tokens: number } {
  const counted = entries.filter(
    (each) => each.state === "admitted" && each.askedAtMs > moment.nowMs - MINUTE_MS && isKnown(each, moment),
  );
  return { requests: counted.length, tokens: sum(counted, ({ least }) => least) };
}

/** Whether Redis must know an admission. */
function isKnown(entry: Entry, { askedMs, setForwardMs }: Moment): boolean {
  const { gateway, by, isLost, isRestored, askedMs: admittedMs } = entry;
  if (isLost) return false;
  if (by === "redis" || isRestored) return true;
  const { isAlive, isShared, changedAtMs } = gateway;
  const sinceMs = Math.max(changedAtMs, setForwardMs) + RESTORED_MS;
  entry.isRestored = isAlive && isShared && changedAtMs > admittedMs && askedMs > sinceMs;
  return entry.isRestored;
}

/** Whether a running request must have a lease in Redis. */
export function isLeased(
  { gateway, by, state, answeredAtMs, askedMs, endedAtMs }: Entry,
  moment: Moment,
): boolean {
  if (state !== "admitted" || endedAtMs !== undefined) return false;
  const { ms, leasesLostMs } = moment;
  const { isShared, changedAtMs, longOutageEndedAtMs } = gateway;
  const renewsSinceMs = Math.max(changedAtMs, leasesLostMs, askedMs);
  if (isShared && ms - renewsSinceMs > RENEWED_MS) return true;
  const isAway = !isShared && ms - changedAtMs > RENEWED_MS;
  return by === "redis" && askedMs > leasesLostMs && longOutageEndedAtMs < answeredAtMs && !isAway;
}

/** What a gateway has admitted itself, in any way. */
export function countShare(own: readonly Entry[], sinceMs: number) {
  const admitted = own.filter(({ state }) => state === "admitted");
  const counted = admitted.filter(({ answeredAtMs }) => answeredAtMs > sinceMs);
  const running = admitted.filter(({ endedAtMs }) => endedAtMs === undefined).length;
  return { requests: counted.length, tokens: sum(counted, ({ least }) => least), running };
}

/** What Redis may count at most: a request without an answer may be known to it twice. */
export function mayCount(entries: readonly Entry[], askedAtMs: number): { requests: number; tokens: number } {
  const counted = entries.filter(
    ({ answeredAtMs, setForwardMs }) => answeredAtMs + setForwardMs > askedAtMs - MINUTE_MS - 1_000 - LATE_MS,
  );
  return { requests: sum(counted, timesOf), tokens: sum(counted, (each) => timesOf(each) * each.most) };
}

/** How many leases there may be. */
export function mayBeLeased(entries: readonly Entry[], askedAtMs: number): number {
  const leased = entries.filter(
    ({ endedAtMs = Infinity, setForwardMs }) =>
      endedAtMs + setForwardMs > askedAtMs - LEASE_MS - 1_000 - LATE_MS,
  );
  return sum(leased, timesOf);
}

function timesOf({ by }: Entry): number {
  return by === "redis" ? 1 : 2;
}

function sum(entries: readonly Entry[], of: (entry: Entry) => number): number {
  return entries.reduce((total, entry) => total + of(entry), 0);
}
