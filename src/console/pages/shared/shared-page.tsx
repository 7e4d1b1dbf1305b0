import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ApiError, api, call } from "../../api.ts";
import { formatCents, formatCount, formatUsdNumber, readUsd, usdNumber } from "../../format.ts";
import { Bar } from "../../parts/bar.tsx";
import { Chart } from "../../parts/chart.tsx";
import { printTimes } from "../../parts/chart-parts.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { Compact } from "../../parts/facts.tsx";
import { Empty, Loaded } from "../../parts/loaded.tsx";
import { Money } from "../../parts/money.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Time } from "../../parts/time.tsx";
import { inputOf } from "../../queries/usage.ts";
import { Brand } from "../../shell/brand.tsx";
import { describePeriod } from "../../spending-limits.ts";
import styles from "./shared.module.css";
import { SharedMonths } from "./shared-months.tsx";

const route = getRouteApi("/shared/$token");
type Shared = Awaited<ReturnType<typeof fetchShared>>;

const fetchShared = (token: string) => call(() => api.shared({ token }).get());

/** The usage that a link shares: read-only, for people without a session. */
export function SharedPage() {
  const { token } = route.useParams();
  const query = useQuery({
    queryKey: ["shared", token],
    queryFn: () => fetchShared(token),
    retry: false,
  });
  const { data, error } = query;
  const isDead = error instanceof ApiError && error.status === 404;
  return (
    <main className={styles.page}>
      <p className={styles.brand}>
        <Brand size={28} /> Tollgate
      </p>
      <PageHeader
        title={titleOf(data)}
        note={
          data && (
            <>
              {data.project_name && data.account_name && `A project of ${data.account_name}. `}
              Usage of the last 30 days, by UTC day. This link ends on{" "}
              <Time at={data.expires_at} as="zoned" />.
            </>
          )
        }
      />
      {isDead && (
        <Empty icon="link" title="This link shows nothing any more">
          It has ended or was revoked, or its address is cut short. Ask whoever sent it for another.
        </Empty>
      )}
      {!isDead && (
        <Loaded query={query}>
          {(data) => (
            <>
              <Usage shared={data} />
              {data.months.length > 0 && <SharedMonths token={token} months={data.months} />}
            </>
          )}
        </Loaded>
      )}
    </main>
  );
}

function titleOf(shared: Shared | undefined): string {
  return shared?.key_name ?? shared?.project_name ?? shared?.account_name ?? "Shared usage";
}

function Usage({ shared }: { readonly shared: Shared }) {
  const { usage, spending_limit } = shared;
  const { rows, total, models } = usage;
  return (
    <>
      <Stats label="Usage">
        <Stat name="Cost" value={<Money usd={total.cost_usd} />} />
        <Stat name="Requests" value={formatCount(total.requests)} />
        <Stat name="Tokens in" value={<Compact count={inputOf(total)} />} />
        <Stat name="Tokens out" value={<Compact count={total.output_tokens} />} />
      </Stats>
      {spending_limit && <Limit limit={spending_limit} />}
      <Panel title="Cost per day">
        {total.requests === 0 ? (
          <Empty icon="usage" title="No requests in 30 days" />
        ) : (
          <Chart
            kind="bars"
            label={`Cost per day over 30 days: ${formatCents(readUsd(total.cost_usd))} in total.`}
            places={printTimes(
              rows.map(({ time }) => time),
              "day",
            )}
            series={[{ id: "cost", name: "Cost", values: rows.map((row) => usdNumber(row.cost_usd)) }]}
            format={formatUsdNumber}
          />
        )}
      </Panel>
      <Panel title="By model" isFlush>
        <DataTable
          caption="Usage by model"
          columns={[
            { id: "model", header: "Model", cell: ({ model }) => model },
            { id: "cost", header: "Cost", align: "end", cell: ({ cost_usd }) => <Money usd={cost_usd} /> },
            {
              id: "requests",
              header: "Requests",
              align: "end",
              cell: ({ requests }) => formatCount(requests),
            },
            { id: "in", header: "Tokens in", align: "end", cell: (row) => formatCount(inputOf(row)) },
            {
              id: "out",
              header: "Tokens out",
              align: "end",
              cell: ({ output_tokens }) => formatCount(output_tokens),
            },
          ]}
          rows={models}
          rowKey={({ model }) => model}
          empty={<Empty icon="model" title="No model was used" />}
        />
      </Panel>
    </>
  );
}

function Limit({ limit }: { readonly limit: NonNullable<Shared["spending_limit"]> }) {
  const { amount_usd, used_usd, period, resets_at } = limit;
  const amount = readUsd(amount_usd);
  const share = amount === 0n ? 1 : Number(readUsd(used_usd)) / Number(amount);
  return (
    <Panel title={`Spending limit ${describePeriod(period)}`}>
      <Bar
        share={share}
        label="Spending limit"
        note={
          resets_at && (
            <>
              resets <Time at={resets_at} as="zoned" />
            </>
          )
        }
      >
        <Money usd={used_usd} /> of <Money usd={amount_usd} /> used
      </Bar>
    </Panel>
  );
}
