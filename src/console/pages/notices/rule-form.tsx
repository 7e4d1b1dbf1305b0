import { type ReactNode, useState } from "react";
import { api, call } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { currentOf } from "../../parts/conflict-dialog.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Choice, Failure, Field, Form, readForm } from "../../parts/field.tsx";
import styles from "../../parts/stack.module.css";
import { AmountField } from "../../parts/typed-fields.tsx";
import { describeRule, type Rule, rulesQuery } from "../../queries/notices.ts";
import { useMe } from "../../session.ts";
import { readAmount } from "../../typed-amount.ts";
import { useAction } from "../../use-action.ts";
import { WebhookContract } from "./webhook.tsx";

interface RuleFormProps {
  readonly account: string;
  /** The rule to edit; without one, a new rule. */
  readonly rule?: Rule;
  readonly onClose: () => void;
}

const KINDS = [
  { value: "balance_below", text: "the available balance falls below" },
  { value: "credit_ends", text: "a credit ends within these days" },
  { value: "key_limit", text: "a key or project has used this share of its limit" },
  { value: "subject_limit", text: "an end user, member or run has used this share" },
] as const;
const UPSTREAMS = { value: "upstream_errors", text: "this share of an upstream's attempts fails" } as const;

const THRESHOLDS = {
  balance_below: {
    label: "USD",
    first: "10.00",
    hint: "Posted − held + credit limit: what the next request can use.",
  },
  credit_ends: {
    label: "Days",
    first: "3",
    hint: "Whole days from 1 to 100. Each credit is reported once, with what is left of it.",
  },
  key_limit: { label: "Percent", first: "80", hint: "Whole percent from 1 to 100, running holds included." },
  subject_limit: {
    label: "Percent",
    first: "80",
    hint: "Of limits for each end user or member, of runs and of keys that keys made. 20 notices an hour, then a sum.",
  },
  upstream_errors: {
    label: "Percent",
    first: "50",
    hint: "Of the last 5 minutes' attempts, from 10 attempts on.",
  },
} as const satisfies Record<Rule["kind"], { label: string; first: string; hint: string }>;

/** Creates or changes a rule. An edit that comes second shows what the other editor saved. */
export function RuleForm({ account, rule, onClose }: RuleFormProps) {
  const { person } = useMe();
  const [kind, setKind] = useState<Rule["kind"]>(rule?.kind ?? "balance_below");
  /** The version that this edit replaces: the other editor's, once it was shown. */
  const [version, setVersion] = useState(rule?.version ?? 0);
  const save = useAction({
    act: (form: Readonly<Record<string, string>>) =>
      send(account, rule, { kind, version, ...readRule(form) }),
    renews: [rulesQuery(account).queryKey],
    done: "Rule saved",
    isForm: true,
    onDone: onClose,
  });
  const theirs = currentOf<Rule>(save.error);
  if (theirs && theirs.version !== version) setVersion(theirs.version);
  const { label, first, hint } = THRESHOLDS[kind];
  const Threshold = kind === "balance_below" ? AmountField : Field;
  return (
    <Dialog
      title={rule ? "Edit the rule" : "Add a rule"}
      note="A notice is shown here to every member, and sent once to the addresses below."
      isOpen
      isKept
      onClose={onClose}
    >
      <Form error={save.error} onSubmit={(event) => save.mutate(readForm(event))}>
        <Choice
          label="Report when"
          name="kind"
          value={kind}
          disabled={rule !== undefined}
          options={person.is_operator || rule?.kind === "upstream_errors" ? [...KINDS, UPSTREAMS] : KINDS}
          onChange={({ currentTarget }) => setKind(currentTarget.value as Rule["kind"])}
        />
        <Threshold
          label={label}
          name="threshold"
          inputMode="decimal"
          defaultValue={rule?.threshold ?? first}
          hint={hint}
          key={kind}
          required
        />
        <Field
          label="E-mail addresses"
          name="emails"
          defaultValue={rule?.emails.join(", ")}
          hint="Separated by commas, at most 10. Each gets a mail with the numbers of the moment."
          isOptional
        />
        <Field
          label="Webhook"
          name="webhook_url"
          type="url"
          placeholder="https://"
          defaultValue={rule?.webhook_url ?? ""}
          hint="https, on a public address. It gets one signed POST of JSON."
          isOptional
        />
        <details className={styles.more}>
          <summary>What the webhook gets, and how to check its signature</summary>
          <WebhookContract />
        </details>
        {theirs ? <TheirVersion rule={theirs} /> : <Failure error={save.error} />}
        <DialogActions>
          <Button onClick={onClose}>{theirs ? "Keep theirs" : "Cancel"}</Button>
          <Button type="submit" look="primary" isBusy={save.isPending}>
            {theirs ? "Save mine" : "Save"}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

function TheirVersion({ rule }: { readonly rule: Rule }): ReactNode {
  const { emails, webhook_url } = rule;
  const targets = [...emails, ...(webhook_url ? [webhook_url] : [])].join(", ") || "the console alone";
  return (
    <p role="alert" className={styles.warning}>
      Another editor saved first: {describeRule(rule)}, sent to {targets}.
    </p>
  );
}

interface RuleValues {
  readonly kind: Rule["kind"];
  readonly version: number;
  readonly threshold: string;
  readonly emails: string[];
  readonly webhook_url: string | null;
}

function readRule({ threshold = "", emails = "", webhook_url = "" }: Readonly<Record<string, string>>) {
  const addresses = emails
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
  return { threshold: readAmount(threshold), emails: addresses, webhook_url: webhook_url.trim() || null };
}

async function send(account: string, rule: Rule | undefined, values: RuleValues): Promise<unknown> {
  const rules = api.accounts({ account })["notice-rules"];
  const { kind, version, webhook_url, ...edit } = values;
  if (!rule) return call(() => rules.post({ kind, webhook_url, ...edit }));
  // An operator is shown the origin alone, which must not replace the address.
  const webhook = webhook_url === rule.webhook_url ? {} : { webhook_url };
  return call(() => rules({ rule: rule.id }).patch({ version, ...webhook, ...edit }));
}
