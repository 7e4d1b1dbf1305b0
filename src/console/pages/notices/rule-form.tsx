import { useState } from "react";
import { ApiError, api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Choice, Failure, Field, Form } from "../../parts/field.tsx";
import { useMe } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import type { Rule } from "./queries.ts";

interface RuleFormProps {
  readonly account: string;
  readonly queryKey: readonly string[];
  /** The rule to edit; without one, a new rule. */
  readonly rule?: Rule;
  readonly onClose: () => void;
}

const KINDS = [
  { value: "balance_below", text: "the available balance falls below" },
  { value: "key_limit", text: "a key has used this share of its limit" },
] as const;
const UPSTREAMS = { value: "upstream_errors", text: "this share of an upstream's attempts fails" } as const;

/** Creates or changes a rule. An edit that comes second shows what the other editor saved. */
export function RuleForm({ account, queryKey, rule, onClose }: RuleFormProps) {
  const { person } = useMe();
  const [kind, setKind] = useState<Rule["kind"]>(rule?.kind ?? "balance_below");
  const save = useAction({
    act: (form: Readonly<Record<string, string>>) => send(account, rule, { kind, ...readRule(form) }),
    renews: [queryKey],
    done: "Rule saved",
    isForm: true,
    onDone: onClose,
  });
  const isConflict = save.error instanceof ApiError && save.error.status === 409;
  return (
    <Dialog title={rule ? "Edit the rule" : "Add a rule"} isOpen isKept onClose={onClose}>
      <Form onSubmit={(event) => save.mutate(readForm(event))}>
        <Choice
          label="Report when"
          name="kind"
          value={kind}
          disabled={rule !== undefined}
          options={person.is_operator ? [...KINDS, UPSTREAMS] : KINDS}
          onChange={({ currentTarget }) => setKind(currentTarget.value as Rule["kind"])}
        />
        <Field
          label={kind === "balance_below" ? "USD" : "Percent"}
          name="threshold"
          inputMode="decimal"
          defaultValue={rule?.threshold ?? (kind === "balance_below" ? "10.00" : "80")}
          key={kind}
          required
        />
        <Field
          label="E-mail addresses"
          name="emails"
          defaultValue={rule?.emails.join(", ")}
          hint="Separated by commas; at most 10."
          isOptional
        />
        <Field
          label="Webhook"
          name="webhook"
          type="url"
          defaultValue={rule?.webhook_url ?? ""}
          hint="https only. Each call is signed."
          isOptional
        />
        {isConflict && (
          <p role="alert">Another editor saved this rule first. Close, and look at its version.</p>
        )}
        {!isConflict && <Failure error={save.error} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={save.isPending}>
            Save
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

interface RuleValues {
  readonly kind: Rule["kind"];
  readonly threshold: string;
  readonly emails: string[];
  readonly webhook_url: string | null;
}

function readRule({ threshold = "", emails = "", webhook = "" }: Readonly<Record<string, string>>) {
  const addresses = emails
    .split(",")
    .map((each) => each.trim())
    .filter(Boolean);
  return { threshold: threshold.trim(), emails: addresses, webhook_url: webhook.trim() || null };
}

async function send(account: string, rule: Rule | undefined, values: RuleValues): Promise<unknown> {
  const rules = api.accounts({ account })["notice-rules"];
  if (!rule) return call(() => rules.post(values));
  const { kind: _, ...edit } = values;
  return call(() => rules({ rule: rule.id }).patch({ version: rule.version, ...edit }));
}
