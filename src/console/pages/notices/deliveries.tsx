import { useQuery } from "@tanstack/react-query";
import { Badge } from "../../parts/badge.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { type Delivery, deliveriesQuery, describeRule, isWaiting, type Rule } from "../../queries/notices.ts";

interface DeliveriesProps {
  readonly account: string;
  readonly rule: Rule;
  readonly onClose: () => void;
}

const TRIES_MAX = 3;

/** The mails and webhook calls of a rule's newest notices; read again while one of them waits. */
export function Deliveries({ account, rule, onClose }: DeliveriesProps) {
  const list = useQuery(deliveriesQuery(account, rule.id));
  return (
    <Dialog
      title="Deliveries"
      note={`Of the rule “${describeRule(rule)}”. Each has three tries: at once, after 30 s and after 5 minutes.`}
      isOpen
      isWide
      onClose={onClose}
    >
      <ListTable
        name="deliveries"
        caption="Deliveries"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <Empty icon="bell" title="Nothing sent yet">
            Mails and webhook calls appear here once the threshold is crossed, or a test is sent.
          </Empty>
        }
        query={list}
        skeletonRows={3}
      />
    </Dialog>
  );
}

const STATES = {
  waiting: { tone: "info", text: "waiting" },
  delivered: { tone: "good", text: "delivered" },
  failed: { tone: "bad", text: "failed" },
} as const;

const COLUMNS: readonly Column<Delivery>[] = [
  {
    id: "target",
    order: ({ target }) => target,
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
    order: ({ state }) => state,
    header: "State",
    isNarrow: true,
    cell: ({ state }) => <Badge tone={STATES[state].tone}>{STATES[state].text}</Badge>,
  },
  {
    id: "attempts",
    order: ({ attempts }) => attempts,
    header: "Tries",
    align: "end",
    cell: ({ attempts }) => `${attempts} of ${TRIES_MAX}`,
  },
  { id: "status", header: "Last answer", isNarrow: true, cell: describeAnswer },
  {
    id: "created",
    order: ({ created_at }) => created_at,
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
