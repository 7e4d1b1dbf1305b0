import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { Badge } from "../../parts/badge.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/loaded.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { describeRule, type Rule } from "../../queries/notices.ts";

interface DeliveriesProps {
  readonly account: string;
  readonly rule: Rule;
  readonly onClose: () => void;
}

const REFRESH_MS = 3_000;
const TRIES_MAX = 3;

type Delivery = Awaited<ReturnType<typeof fetchDeliveries>>["items"][number];

const fetchDeliveries = (account: string, rule: string) =>
  call(() => api.accounts({ account })["notice-rules"]({ rule }).deliveries.get());

/** The mails and webhook calls of a rule's newest notices; read again while one of them waits. */
export function Deliveries({ account, rule, onClose }: DeliveriesProps) {
  const { data, error, refetch } = useQuery({
    queryKey: ["account", account, "notice-rules", rule.id, "deliveries"],
    queryFn: () => fetchDeliveries(account, rule.id),
    refetchInterval: ({ state }) => (state.data?.items.some(isWaiting) ? REFRESH_MS : false),
  });
  return (
    <Dialog
      title="Deliveries"
      note={`Of the rule “${describeRule(rule)}”. Each has three tries: at once, after 30 s and after 5 minutes.`}
      isOpen
      isWide
      onClose={onClose}
    >
      <DataTable
        caption="Deliveries"
        columns={COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={
          <Empty icon="bell" title="Nothing sent yet">
            Mails and webhook calls appear here once the threshold is crossed, or a test is sent.
          </Empty>
        }
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        skeletonRows={3}
      />
    </Dialog>
  );
}

const isWaiting = ({ state }: Delivery): boolean => state === "waiting";

const STATES = {
  waiting: { tone: "info", text: "waiting" },
  delivered: { tone: "good", text: "delivered" },
  failed: { tone: "bad", text: "failed" },
} as const;

const COLUMNS: readonly Column<Delivery>[] = [
  {
    id: "target",
    header: "To",
    cell: ({ target, channel }) => (
      <span className={styles.named}>
        {target}
        <small>{channel}</small>
      </span>
    ),
  },
  {
    id: "state",
    header: "State",
    isNarrow: true,
    cell: ({ state }) => <Badge tone={STATES[state].tone}>{STATES[state].text}</Badge>,
  },
  {
    id: "attempts",
    header: "Tries",
    align: "end",
    cell: ({ attempts }) => `${attempts} of ${TRIES_MAX}`,
  },
  { id: "status", header: "Last answer", isNarrow: true, cell: describeAnswer },
  {
    id: "created",
    header: "Ordered",
    isNarrow: true,
    cell: ({ created_at }) => <Time at={created_at} as="relative" />,
  },
  {
    id: "next",
    header: "Next try",
    isNarrow: true,
    cell: (delivery) => <Time at={isWaiting(delivery) ? delivery.next_at : null} as="relative" />,
  },
];

/** What the receiver answered last, in words. */
function describeAnswer({ channel, state, attempts, last_status }: Delivery): string {
  if (last_status !== null) return `HTTP ${last_status}`;
  if (attempts === 0) return "–";
  if (channel === "mail") return state === "delivered" ? "accepted" : "not accepted";
  return state === "waiting" && attempts === 1 ? "not yet" : "no answer";
}
