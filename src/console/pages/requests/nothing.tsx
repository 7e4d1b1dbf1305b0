import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { formatCount } from "../../format.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { countQuery, FILTERS, hasFilter, hasRange, type RequestsSearch } from "./queries.ts";

interface NothingProps {
  readonly account: string;
  readonly search: RequestsSearch;
}

/** Stands where requests would be when there are none: no traffic, or filters that exclude all of it. */
export function Nothing({ account, search }: NothingProps) {
  if (!hasFilter(search) && !hasRange(search)) {
    return (
      <Empty icon="requests" title="No requests here yet">
        Requests appear by themselves as soon as a key of this account sends one.
      </Empty>
    );
  }
  return <Excluded account={account} search={search} />;
}

/** The count of requests that the filters excluded, and how to see them. */
function Excluded({ account, search }: NothingProps) {
  const navigate = useNavigate();
  const isFiltered = hasFilter(search);
  const { data } = useQuery(countQuery(account, isFiltered ? search : {}));
  const names = isFiltered ? FILTERS : (["range", "from", "to"] as const);
  const cleared = Object.fromEntries([...names, "page"].map((name) => [name, undefined]));
  const count = data?.total.requests;
  const place = isFiltered && hasRange(search) ? "in this range" : "in the last year";
  return (
    <Empty
      icon="search"
      title={isFiltered ? "No request matches these filters" : "No requests in this range"}
      actions={
        <Button
          onClick={() =>
            void navigate({ to: ".", search: (all: object) => ({ ...all, ...cleared }) as never })
          }
        >
          {isFiltered ? "Clear the filters" : "Show all times"}
        </Button>
      }
    >
      {count !== undefined && `Without them there are ${formatCount(count)} ${place}.`}
    </Empty>
  );
}
