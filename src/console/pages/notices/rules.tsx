import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Menu } from "../../parts/menu.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { showToast } from "../../parts/toast.tsx";
import { describeRule, type Rule, rulesQuery } from "../../queries/notices.ts";
import { useMay } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { Deliveries } from "./deliveries.tsx";
import { RuleForm } from "./rule-form.tsx";
import { WebhookSecret } from "./webhook.tsx";

/** What is open over the page, and for which rule. */
type Chosen =
  | { readonly for: "add" }
  | { readonly for: "edit" | "delete" | "secret" | "deliveries"; readonly rule: Rule };

/** The thresholds of an account, and who is notified when one is crossed. */
export function Rules({ account }: { readonly account: string }) {
  const mayWrite = useMay("notices.write");
  const list = useQuery(rulesQuery(account));
  const [chosen, setChosen] = useState<Chosen>();
  const actions: Column<Rule> = {
    id: "actions",
    header: "",
    align: "end",
    cell: (rule) =>
      mayWrite ? (
        <RuleActions account={account} rule={rule} onChoose={setChosen} />
      ) : (
        <Button size="small" onClick={() => setChosen({ for: "deliveries", rule })}>
          Deliveries
        </Button>
      ),
  };
  const add = (
    <Button icon="plus" onClick={() => setChosen({ for: "add" })}>
      Add rule
    </Button>
  );
  return (
    <Panel
      title="Rules"
      note="Checked every 15 s. A crossing is reported once; that of an end user, member or run once per period."
      isFlush
      actions={mayWrite && add}
    >
      <ListTable
        name="rules"
        caption="Rules of notices"
        columns={[...COLUMNS, actions]}
        rowKey={({ id }) => id}
        empty={
          <Empty icon="bell" title="No rule yet">
            A rule reports a low balance before requests are refused.
          </Empty>
        }
        query={list}
        skeletonRows={2}
      />
      {chosen && <Opened account={account} chosen={chosen} onClose={() => setChosen(undefined)} />}
    </Panel>
  );
}

interface RuleActionsProps {
  readonly account: string;
  readonly rule: Rule;
  readonly onChoose: (chosen: Chosen) => void;
}

function RuleActions({ account, rule, onChoose }: RuleActionsProps) {
  const mayReadSecret = useMay("notices.secrets");
  const route = api.accounts({ account })["notice-rules"]({ rule: rule.id });
  const test = useAction({
    act: () => call(() => route.test.post()),
    renews: [["account", account, "notices"], rulesQuery(account).queryKey],
    onDone: () => showToast("A test is on its way: see the deliveries of the rule"),
  });
  const { is_paused: isPaused, version } = rule;
  const pause = useAction({
    act: () => call(() => route.patch({ version, is_paused: !isPaused })),
    renews: [["account", account, "notices"], rulesQuery(account).queryKey],
    done: isPaused ? "Rule resumed" : "Rule paused",
  });
  return (
    <span className={styles.line}>
      <Button size="small" isBusy={test.isPending} onClick={() => test.mutate()}>
        Send a test
      </Button>
      <Button size="small" onClick={() => onChoose({ for: "edit", rule })}>
        Edit
      </Button>
      <Menu
        label={`More for the rule “${describeRule(rule)}”`}
        items={[
          { text: "Deliveries", icon: "requests", onSelect: () => onChoose({ for: "deliveries", rule }) },
          ...(rule.webhook_url === null || !mayReadSecret
            ? []
            : [
                {
                  text: "Webhook and secret",
                  icon: "code" as const,
                  onSelect: () => onChoose({ for: "secret", rule }),
                },
              ]),
          {
            text: isPaused ? "Resume" : "Pause",
            icon: isPaused ? "play" : "bell",
            onSelect: () => pause.mutate(),
          },
          null,
          {
            text: "Delete",
            icon: "close",
            isDanger: true,
            onSelect: () => onChoose({ for: "delete", rule }),
          },
        ]}
      />
    </span>
  );
}

interface OpenedProps {
  readonly account: string;
  readonly chosen: Chosen;
  readonly onClose: () => void;
}

function Opened({ account, chosen, onClose }: OpenedProps) {
  if (chosen.for === "add") return <RuleForm account={account} onClose={onClose} />;
  const { rule } = chosen;
  const dialogs = { edit: RuleForm, delete: DeleteRule, secret: WebhookSecret, deliveries: Deliveries };
  const Dialog = dialogs[chosen.for];
  return <Dialog account={account} rule={rule} onClose={onClose} />;
}

function DeleteRule({ account, rule, onClose }: Omit<OpenedProps, "chosen"> & { readonly rule: Rule }) {
  return (
    <Confirm
      title="Delete the rule"
      note={`“${describeRule(rule)}” is no longer reported. Its past notices stay.`}
      action="Delete"
      isDanger
      act={() => call(() => api.accounts({ account })["notice-rules"]({ rule: rule.id }).delete())}
      renews={[rulesQuery(account).queryKey]}
      done="Rule deleted"
      onClose={onClose}
    />
  );
}

const COLUMNS: readonly Column<Rule>[] = [
  {
    id: "when",
    order: describeRule,
    header: "When",
    cell: (rule) => (
      <span className={styles.line}>
        {describeRule(rule)} {rule.is_paused && <Badge>paused</Badge>}
        {rule.is_raised && <Badge tone="warn">crossed</Badge>}
      </span>
    ),
  },
  {
    id: "who",
    order: ({ emails, webhook_url }) => emails[0] ?? webhook_url,
    header: "Sends to",
    cell: ({ emails, webhook_url }) => (
      <span className={styles.named}>
        {emails.length > 0 || webhook_url ? emails.join(", ") : "the console alone"}
        {webhook_url && <small>{webhook_url}</small>}
      </span>
    ),
  },
];
