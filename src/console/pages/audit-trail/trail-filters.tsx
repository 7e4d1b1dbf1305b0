import { useNavigate } from "@tanstack/react-router";
import { SearchField } from "../../parts/search-field.tsx";
import { Select } from "../../parts/select.tsx";
import styles from "../../parts/stack.module.css";
import { type RangeSearch, resolveRange } from "../../ranges.ts";
import type { Filters } from "../../search.ts";
import { describeAction } from "./changes.ts";

/** The filters of an audit trail, as the URL holds them. */
export type TrailSearch = RangeSearch & Filters<"actor" | "action" | "page">;

const IN_ACCOUNTS = [
  ...["account", "checkout", "code", "invitation", "key", "management_key", "member", "notice_rule"],
  ...["shared_link", "wallet"],
];
const ON_PLATFORM = ["operator", "password", "person", "session", "sessions", "upstream"];

/** Who changed, and what was changed. Every value of `action` that is in the URL can be chosen. */
export function TrailFilters({ search, isPlatform }: { search: TrailSearch; isPlatform: boolean }) {
  const navigate = useNavigate();
  const { actor, action = "" } = search;
  const nouns = isPlatform ? [...IN_ACCOUNTS, ...ON_PLATFORM].sort() : IN_ACCOUNTS;
  const listed = action === "" || nouns.includes(action) ? nouns : [action, ...nouns];
  return (
    <div className={styles.filters}>
      <SearchField name="actor" value={actor} label="Name or id of the author" />
      <Select
        label="What"
        value={action}
        options={[
          { value: "", text: "every change" },
          ...listed.map((each) => ({ value: each, text: describeAction(each) })),
        ]}
        onChange={(next) => {
          const change = { action: next || undefined, page: undefined };
          void navigate({ to: ".", search: (all: object) => ({ ...all, ...change }) as never });
        }}
      />
    </div>
  );
}

/** The query of the API for a search. Without a range in the URL it selects all times. */
export function queryOf({ actor, action, page, ...range }: TrailSearch) {
  const hasRange = range.range !== undefined || range.from !== undefined;
  const { from, to } = resolveRange(range);
  return {
    ...(actor && { actor }),
    ...(action && { action }),
    ...(page && { page }),
    ...(hasRange && { from, to }),
  };
}
