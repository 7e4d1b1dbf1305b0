import { printChange, printShare, printUsdChange, shareOf } from "../../compare.ts";
import { formatCount, formatMs } from "../../format.ts";
import { Compact } from "../../parts/facts.tsx";
import { Money } from "../../parts/money.tsx";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Time } from "../../parts/time.tsx";
import { hasMargin, inputOf, type Margin, type UsageAnswer, type UsageTotal } from "../../queries/usage.ts";
import styles from "./usage.module.css";

interface FiguresProps {
  /** `undefined` while loading. */
  readonly usage: UsageAnswer | undefined;
  readonly isCompared: boolean;
}

/** The sums of the range, each compared with the period of equal length before it. */
export function Figures({ usage, isCompared }: FiguresProps) {
  const total = usage?.total;
  const before = isCompared ? (usage?.previous ?? undefined) : undefined;
  return (
    <div className={styles.figures}>
      <Stats label="Cost and requests">
        <Stat
          name="Cost"
          value={total && <Money usd={total.cost_usd} />}
          note={total && <Change text={printUsdChange(total.cost_usd, before?.cost_usd)} />}
        />
        <Stat
          name="Requests"
          value={total && formatCount(total.requests)}
          note={total && <Change text={printChange(total.requests, before?.requests)} />}
        />
        <Stat
          name="With an error"
          value={total && formatCount(total.errors)}
          note={
            total && (
              <Change
                text={printChange(total.errors, before?.errors)}
                lead={
                  total.requests === 0 ? undefined : `${printShare(total.errors, total.requests)} of requests`
                }
              />
            )
          }
        />
        <Stat
          name="Refused"
          value={total && formatCount(total.refused)}
          note={usage && <RefusedSince usage={usage} />}
        />
      </Stats>
      {total && hasMargin(total) && <MarginFigures total={total} before={before} />}
      <Stats label="Tokens and times">
        <Stat
          name="Tokens in"
          value={total && <Compact count={inputOf(total)} />}
          note={total && <CacheShare total={total} />}
        />
        <Stat
          name="Tokens out"
          value={total && <Compact count={total.output_tokens} />}
          note={total && <Change text={printChange(total.output_tokens, before?.output_tokens)} />}
        />
        <Times name="First output, median" times={total?.first_output} before={before?.first_output} />
        <Times name="Whole answer, median" times={total?.total_time} before={before?.total_time} />
      </Stats>
    </div>
  );
}

interface MarginProps {
  readonly total: UsageTotal & Margin;
  readonly before: UsageTotal | undefined;
}

/** What upstreams bill, and what is left of the charges of the same requests. */
function MarginFigures({ total, before }: MarginProps) {
  const earlier = before && hasMargin(before) ? before : undefined;
  return (
    <Stats label="Upstream cost and margin">
      <Stat
        name="Upstream cost"
        value={<Money usd={total.upstream_cost_usd} />}
        note={<Change text={printUsdChange(total.upstream_cost_usd, earlier?.upstream_cost_usd)} />}
      />
      <Stat
        name="Margin"
        value={<Money usd={total.margin_usd} />}
        note="charges less refunds and upstream cost"
      />
      <Stat
        name="Charged at unknown cost"
        value={<Money usd={total.unknown_cost_usd} />}
        note={`${shareOf(total.unknown_cost_usd, total.cost_usd)} of the charges, in no margin`}
      />
    </Stats>
  );
}

function Change({ text, lead }: { readonly text: string | undefined; readonly lead?: string | undefined }) {
  const parts = [lead, text && `${text} on the period before`].filter(Boolean);
  return <>{parts.join("\u00a0· ")}</>;
}

/** Refused requests are kept for 7 days: a longer range does not have them all. */
function RefusedSince({ usage: { from, refused_since } }: { readonly usage: UsageAnswer }) {
  if (refused_since <= from) return <>at no cost</>;
  return (
    <>
      since <Time at={refused_since} as="date" />
    </>
  );
}

function CacheShare({ total }: { readonly total: UsageTotal }) {
  const input = inputOf(total);
  return <>{input > 0 && `${printShare(total.cached_input_tokens, input)} from the cache`}</>;
}

interface TimesProps {
  readonly name: string;
  /** `undefined` while loading, null without a request. */
  readonly times: UsageTotal["first_output"] | undefined;
  readonly before: UsageTotal["first_output"] | undefined;
}

function Times({ name, times, before }: TimesProps) {
  const change = times && printChange(times.p50, before?.p50);
  return (
    <Stat
      name={name}
      value={times === undefined ? undefined : formatMs(times?.p50 ?? null)}
      note={
        times &&
        [`p95 ${formatMs(times.p95)}`, `p99 ${formatMs(times.p99)}`, change]
          .flatMap((part) => part?.replaceAll(" ", "\u00a0") ?? [])
          .join("\u00a0· ")
      }
    />
  );
}
