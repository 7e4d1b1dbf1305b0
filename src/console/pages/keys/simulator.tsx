import type { FormEvent } from "react";
import { api, call } from "../../api.ts";
import { formatCount, formatPercent, plural } from "../../format.ts";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Failure, Form } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import stack from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import type { Key } from "../../queries/keys.ts";
import { useAction } from "../../use-action.ts";
import styles from "./key.module.css";
import { LimitFields } from "./key-fields.tsx";
import { readLimitFields, valuesOf } from "./key-values.ts";

type Tried = ReturnType<typeof readLimitFields>;
type Simulation = Awaited<ReturnType<typeof simulate>>;

const NAMES: Readonly<Record<Simulation["by"][number]["limit"], string>> = {
  requests_per_minute: "Requests per minute",
  tokens_per_minute: "Tokens per minute",
  concurrent_requests: "Running at once",
  spending_limit: "Spending limit",
};
const COLUMNS: readonly Column<Simulation["by"][number]>[] = [
  { id: "limit", header: "Limit", cell: ({ limit }) => NAMES[limit] },
  { id: "refused", header: "Refused", align: "end", cell: ({ refused }) => formatCount(refused) },
  {
    id: "first",
    header: "First",
    isNarrow: true,
    cell: ({ first_at }) => <Time at={first_at} as="second" />,
  },
];

const simulate = (account: string, key: string, limits: Tried) =>
  call(() => api.accounts({ account }).keys({ key }).simulate.post(limits));

/** Replays the last 7 days of a key against other limits. Changes nothing. */
export function Simulator({ account, shown }: { readonly account: string; readonly shown: Key }) {
  const run = useAction({ act: (limits: Tried) => simulate(account, shown.id, limits), isForm: true });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    run.mutate(readLimitFields(new FormData(event.currentTarget)));
  };
  return (
    <Panel
      title="Limit simulator"
      note="Replays the requests of the last 7 days against other limits. Nothing is changed; an empty field refuses nothing."
    >
      <Form error={run.error} onSubmit={submit}>
        <LimitFields values={valuesOf(shown)} empty={() => "none"} />
        <Failure error={run.error} />
        <div>
          <Button type="submit" icon="play" isBusy={run.isPending}>
            Replay
          </Button>
        </div>
      </Form>
      {run.data && <Verdict of={run.data} />}
    </Panel>
  );
}

function Verdict({ of: { requests, refused, by, first_at, from, is_cut } }: { readonly of: Simulation }) {
  return (
    <div className={styles.verdict} role="status">
      <p>
        {requests === 0 && "This key had no request in the last 7 days: there is nothing to replay."}
        {requests > 0 && refused === 0 && (
          <>These limits would have refused none of {plural(requests, "request")}.</>
        )}
        {refused > 0 && (
          <>
            These limits would have refused <strong>{formatCount(refused)}</strong> of{" "}
            {plural(requests, "request")} ({formatPercent(refused / requests)}), first on{" "}
            <Time at={first_at} as="second" />.
          </>
        )}
      </p>
      {is_cut && (
        <p className={styles.quiet}>
          Only the newest {plural(requests, "request")} were replayed, from <Time at={from} /> on.
        </p>
      )}
      {by.length > 0 && (
        <div className={stack.bleed}>
          <DataTable
            caption="Refused by limit"
            columns={COLUMNS}
            rows={by}
            rowKey={({ limit }) => limit}
            empty={null}
          />
        </div>
      )}
    </div>
  );
}
