import type { LinkProps } from "@tanstack/react-router";
import { FAILED } from "./queries/requests.ts";
import { type RangeSearch, rangeOfTimes } from "./ranges.ts";
import { withSearch } from "./search.ts";
import { OTHERS, STEP_MS } from "./series.ts";
import { addScope, FILTERS, isScopeGroup, type UsageQuery } from "./usage-view.ts";

/** What a chart of usage is drawn from. */
interface Charted {
  /** `undefined`: all accounts, whose requests have no list. */
  readonly account: string | undefined;
  readonly query: UsageQuery;
  readonly times: readonly string[];
}

/** Where the places and the ranges of a chart of usage lead: to their requests, and to the view of that range. */
export function linksOfChart({ account, query, times }: Charted) {
  return {
    placeLink: (place: number, series?: string) =>
      account === undefined
        ? undefined
        : requestsLink(account, query, { ...rangeOfBuckets(times, query.by, place), series }),
    rangeLink: (first: number, last: number) => linkOfRange(rangeOfBuckets(times, query.by, first, last)),
  };
}

/** The page as it is, in another range. */
export function linkOfRange(range: Pick<RangeSearch, "from" | "to">): LinkProps {
  return { to: ".", search: withSearch({ range: undefined, page: undefined, ...range }) };
}

/** The range of buckets of a chart, both included. */
export function rangeOfBuckets(times: readonly string[], by: UsageQuery["by"], first: number, last = first) {
  const [from = "", to = ""] = [times[first], times[last]];
  return rangeOfTimes(Date.parse(from), Date.parse(to) + STEP_MS[by]);
}

type Part = Pick<RangeSearch, "from" | "to"> & {
  /** A series of the chart, or "refused" for its outline. */
  readonly series: string | undefined;
};

function requestsLink(account: string, query: UsageQuery, { series, ...range }: Part): LinkProps {
  const filters = Object.fromEntries(FILTERS.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
  const { key } = filters;
  if (series === "refused") {
    return {
      to: "/accounts/$account/refusals",
      params: { account },
      search: { ...range, ...(key && { key }) },
    };
  }
  const search = { ...range, ...filters, ...filterOf(query, series) };
  return { to: "/accounts/$account/requests", params: { account }, search };
}

/** Answered and failed requests, where nothing else divides them. */
const OUTCOMES: Readonly<Record<string, { readonly outcome: string }>> = {
  ok: { outcome: "ok" },
  errors: { outcome: FAILED },
};

/** The filter of one series. The others together, and requests that have nothing to divide by, have none. */
function filterOf({ group, scope, tag_key }: UsageQuery, series: string | undefined) {
  if (!series || series === OTHERS) return {};
  const name = FILTERS.find((each) => each === group);
  if (name) return { [name]: series };
  if (!isScopeGroup(group)) return OUTCOMES[series] ?? {};
  return { scope: addScope(scope, `${group}:${group === "tag" ? `${tag_key}=${series}` : series}`) };
}
