import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { showToast } from "../../parts/toast.tsx";
import { useMay } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { type Rule, rulesQuery } from "./queries.ts";
import { RuleForm } from "./rule-form.tsx";
import { WebhookSecret } from "./webhook-secret.tsx";

interface Chosen {
  readonly rule: Rule;
  readonly for: "edit" | "delete" | "secret";
}

/** The thresholds of an account, and who is notified when one is crossed. */
export function Rules({ account }: { readonly account: string }) {
  const mayWrite = useMay("notices.write");
  const { queryKey } = rulesQuery(account);
  const { data, error, refetch } = useQuery(rulesQuery(account));
  const [isCreating, setIsCreating] = useState(false);
  const [chosen, setChosen] = useState<Chosen>();
  const close = () => setChosen(undefined);
  const routeOf = (rule: string) => api.accounts({ account })["notice-rules"]({ rule });
  const remove = useAction({
    act: (rule: string) => call(() => routeOf(rule).delete()),
    renews: [queryKey],
    done: "Rule deleted",
    isForm: true,
    onDone: close,
  });
  const test = useAction({
    act: (rule: string) => call(() => routeOf(rule).test.post()),
    renews: [["account", account, "notices"]],
    onDone: () => showToast("A test is on its way"),
  });
  const actions: Column<Rule> = {
    id: "actions",
    header: "",
    align: "end",
    cell: (rule) => (
      <span className={styles.line}>
        <Button size="small" onClick={() => test.mutate(rule.id)}>
          Test
        </Button>
        {rule.webhook_url && (
          <Button size="small" onClick={() => setChosen({ rule, for: "secret" })}>
            Secret
          </Button>
        )}
        <Button size="small" onClick={() => setChosen({ rule, for: "edit" })}>
          Edit
        </Button>
        <Button size="small" look="danger" onClick={() => setChosen({ rule, for: "delete" })}>
          Delete
        </Button>
      </span>
    ),
  };
  return (
    <Panel
      title="Rules"
      note="Each rule is checked every 15 s. A crossed threshold is reported once until it is crossed back."
      isFlush
      actions={
        mayWrite && (
          <Button icon="plus" onClick={() => setIsCreating(true)}>
            Add rule
          </Button>
        )
      }
    >
      <DataTable
        caption="Rules of notices"
        columns={mayWrite ? [...COLUMNS, actions] : COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={
          <Empty icon="bell" title="No rule yet">
            A rule reports a low balance before requests are refused.
          </Empty>
        }
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        skeletonRows={2}
      />
      {isCreating && <RuleForm account={account} queryKey={queryKey} onClose={() => setIsCreating(false)} />}
      {chosen?.for === "edit" && (
        <RuleForm account={account} queryKey={queryKey} rule={chosen.rule} onClose={close} />
      )}
      {chosen?.for === "secret" && <WebhookSecret account={account} rule={chosen.rule.id} onClose={close} />}
      {chosen?.for === "delete" && (
        <Confirm
          title="Delete the rule"
          note="Its notices stay."
          action="Delete"
          isDanger
          call={remove}
          onConfirm={() => remove.mutate(chosen.rule.id)}
          onClose={close}
        />
      )}
    </Panel>
  );
}

const COLUMNS: readonly Column<Rule>[] = [
  {
    id: "when",
    header: "When",
    cell: (rule) => (
      <span className={styles.line}>
        {describeRule(rule)} {rule.is_raised && <Badge tone="warn">crossed</Badge>}
      </span>
    ),
  },
  {
    id: "who",
    header: "Sends to",
    cell: ({ emails, webhook_url }) => (
      <span className={styles.named}>
        {emails.length > 0 ? emails.join(", ") : "the console alone"}
        {webhook_url && <small>{webhook_url}</small>}
      </span>
    ),
  },
];

/** The condition of a rule, in words. */
function describeRule({ kind, threshold }: Pick<Rule, "kind" | "threshold">): string {
  if (kind === "balance_below") return `less than $${threshold} is available`;
  if (kind === "key_limit") return `a key has used ${threshold}% of its spending limit`;
  return `more than ${threshold}% of an upstream's attempts fail`;
}
