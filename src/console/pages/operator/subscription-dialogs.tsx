import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { formatCents, localise, readUsd } from "../../format.ts";
import { ActionDialog, ReasonField } from "../../parts/dialog.tsx";
import { Choice, Failure } from "../../parts/field.tsx";
import styles from "../../parts/stack.module.css";
import { ACCOUNTS_KEY, type ListedAccount } from "../../queries/operator.ts";
import {
  newPreviewQuery,
  plansQuery,
  previewQuery,
  SUBSCRIPTIONS_KEY,
  type Subscription,
  type WantedChange,
} from "../../queries/subscriptions.ts";
import { formatTime } from "../../times.ts";

interface SubscribeProps {
  readonly account: ListedAccount;
  readonly onClose: () => void;
}

/** Subscribes an account to a plan of the configuration file. */
export function SubscribeDialog({ account, onClose }: SubscribeProps) {
  const plans = usePlanOptions();
  const [chosen, setPlan] = useState<string>();
  const plan = chosen ?? plans[0]?.value ?? "";
  const preview = useQuery(newPreviewQuery(account.id, plan));
  return (
    <ActionDialog
      title={`Subscribe ${account.name}`}
      note="The first period begins now. Plans are in the configuration file."
      action="Subscribe"
      isBlocked={!preview.data}
      act={({ reason = "" }) =>
        call(() => api.operator.accounts({ id: account.id }).subscription.post({ plan, reason }))
      }
      renews={[ACCOUNTS_KEY, SUBSCRIPTIONS_KEY]}
      done="Account subscribed"
      onClose={onClose}
    >
      <PlanChoice options={plans} value={plan} onChoose={setPlan} />
      <WhatHappens preview={preview} />
      <ReasonField />
    </ActionDialog>
  );
}

const TITLES = {
  pause: { action: "Pause", done: "Subscription paused" },
  resume: { action: "Resume", done: "Subscription resumed" },
  change: { action: "Change the plan", done: "Plan changed" },
  cancel: { action: "Cancel the subscription", done: "Subscription cancelled" },
} as const;

const WHEN = [
  { value: "", text: "An upgrade now, any other plan with the next period" },
  { value: "now", text: "Now" },
  { value: "period_end", text: "When the running period ends" },
];
const CANCEL_WHEN = [
  { value: "period_end", text: "When the running period ends" },
  { value: "now", text: "Now" },
];

interface ChangeProps {
  readonly subscription: Subscription;
  readonly action: WantedChange["action"];
  readonly onClose: () => void;
}

/** Pauses, resumes, changes or cancels a subscription, after it has said what that does. */
export function ChangeDialog({ subscription, action, onClose }: ChangeProps) {
  const { id, version, account_name: name } = subscription;
  const plans = usePlanOptions().filter(({ value }) => value !== subscription.plan.id);
  const [chosen, setPlan] = useState<string>();
  const [at, setAt] = useState("");
  const wanted = readWanted(action, { plan: chosen ?? plans[0]?.value ?? "", at });
  const preview = useQuery(previewQuery(id, wanted));
  return (
    <ActionDialog
      title={`${TITLES[action].action}: ${name ?? subscription.account_id}`}
      action={TITLES[action].action}
      isDanger={action === "cancel"}
      isBlocked={!preview.data}
      act={({ reason = "" }) =>
        call(() => api.operator.subscriptions({ id }).post({ ...wanted, version, reason }))
      }
      renews={[SUBSCRIPTIONS_KEY, ACCOUNTS_KEY]}
      done={TITLES[action].done}
      onClose={onClose}
    >
      {action === "change" && <PlanChoice options={plans} value={wanted.plan ?? ""} onChoose={setPlan} />}
      {(action === "change" || action === "cancel") && (
        <Choice
          label="When"
          name="when"
          options={action === "change" ? WHEN : CANCEL_WHEN}
          value={wanted.when ?? ""}
          onChange={(event) => setAt(event.currentTarget.value)}
        />
      )}
      <WhatHappens preview={preview} />
      <ReasonField />
    </ActionDialog>
  );
}

function readWanted(
  action: WantedChange["action"],
  { plan, at }: { readonly plan: string; readonly at: string },
): WantedChange {
  const when = at === "now" || at === "period_end" ? at : undefined;
  if (action === "change") return { action, plan, ...(when && { when }) };
  return action === "cancel" ? { action, when: when ?? "period_end" } : { action };
}

interface PlanOption {
  readonly value: string;
  readonly text: string;
}

function usePlanOptions(): readonly PlanOption[] {
  const { data } = useQuery(plansQuery());
  return (data?.items ?? []).map(({ id, name, period, grant_usd }) => ({
    value: id,
    text: `${name}: ${formatCents(readUsd(grant_usd))} per ${period === "month" ? "month" : `${period.slice(0, -1)} days`}`,
  }));
}

interface PlanChoiceProps {
  readonly options: readonly PlanOption[];
  readonly value: string;
  readonly onChoose: (plan: string) => void;
}

function PlanChoice({ options, value, onChoose }: PlanChoiceProps) {
  return (
    <Choice
      label="Plan"
      name="plan"
      hint={options.length === 0 ? "The configuration file has no other plan." : undefined}
      options={options}
      value={value}
      onChange={(event) => onChoose(event.currentTarget.value)}
    />
  );
}

/** A time as the command line prints it. */
const UTC = /(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g;

/** A sentence of the server with amounts and times as the rest of the page has them. */
function printSentence(sentence: string): string {
  return localise(sentence).replace(UTC, (_, day: string, minute: string) =>
    formatTime(`${day}T${minute}Z`, "zoned"),
  );
}

/** The sentences of a preview, or why the change is refused. */
function WhatHappens({
  preview,
}: {
  readonly preview: {
    readonly data: { readonly sentences: readonly string[] } | undefined;
    readonly error: unknown;
  };
}) {
  if (preview.error) return <Failure error={preview.error} />;
  return (
    <ul className={styles.part} aria-label="What happens" aria-live="polite">
      {preview.data?.sentences.map((sentence) => (
        <li key={sentence}>{printSentence(sentence)}</li>
      ))}
    </ul>
  );
}
