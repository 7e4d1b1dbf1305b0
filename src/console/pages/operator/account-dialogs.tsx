import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, call } from "../../api.ts";
import { withPoint } from "../../format.ts";
import { ActionDialog, Confirm, ReasonField } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { CorrectionDialog, CreditDialog, RefundDialog } from "../../parts/money-dialogs.tsx";
import { ACCOUNTS_KEY, type ListedAccount } from "../../queries/operator.ts";
import { meQuery } from "../../session.ts";
import { SubscribeDialog } from "./subscription-dialogs.tsx";

/** What an operator is about to do with an account. */
export interface AccountTask {
  readonly kind: "credit" | "correct" | "refund" | "markup" | "subscribe" | "act" | "suspend" | "resume";
  readonly account: ListedAccount;
}

interface DialogProps {
  readonly account: ListedAccount;
  readonly onClose: () => void;
}

/** The dialog of a task. */
export function AccountDialog({
  task: { kind, account },
  onClose,
}: {
  task: AccountTask;
  onClose: () => void;
}) {
  if (kind === "credit") return <CreditDialog account={account} onClose={onClose} />;
  if (kind === "correct") return <CorrectionDialog account={account} onClose={onClose} />;
  if (kind === "refund") return <RefundDialog account={account} onClose={onClose} />;
  if (kind === "markup") return <MarkupDialog account={account} onClose={onClose} />;
  if (kind === "subscribe") return <SubscribeDialog account={account} onClose={onClose} />;
  if (kind === "act") return <ActDialog account={account} onClose={onClose} />;
  return <StateDialog account={account} state={kind} onClose={onClose} />;
}

const STATES = {
  suspend: {
    action: "Suspend",
    done: "Account suspended",
    note: "New requests of its keys are refused. Running ones end within seconds, and pay for what they used.",
  },
  resume: { action: "Resume", done: "Account resumed", note: "Its keys are accepted again." },
} as const;

function StateDialog({ account, state, onClose }: DialogProps & { readonly state: "suspend" | "resume" }) {
  const { action, done, note } = STATES[state];
  return (
    <Confirm
      title={`${action} ${account.name}`}
      note={note}
      action={action}
      isDanger={state === "suspend"}
      hasReason
      act={(reason) => call(() => api.operator.accounts({ id: account.id })[state].post({ reason }))}
      renews={[ACCOUNTS_KEY, ["account", account.id]]}
      done={done}
      onClose={onClose}
    />
  );
}

/** Opens the account as its members see it. Nothing is kept of another account's pages. */
function ActDialog({ account, onClose }: DialogProps) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return (
    <Confirm
      title={`Act inside ${account.name}`}
      note="For 30 minutes you see this account and may change it. Its owners see it in their audit trail."
      action="Open the account"
      hasReason
      act={(reason) => call(() => api.operator.accounts({ id: account.id }).act.post({ reason }))}
      renews={[meQuery.queryKey]}
      onDone={async () => {
        queryClient.removeQueries({ queryKey: ["account"] });
        await navigate({ to: "/accounts/$account", params: { account: account.id } });
      }}
      onClose={onClose}
    />
  );
}

/** Sets the factor over upstream costs that an account pays. */
function MarkupDialog({ account, onClose }: DialogProps) {
  return (
    <ActionDialog
      title={`Set the markup of ${account.name}`}
      note="It replaces the prices of models whose upstream cost is known, for requests from now on."
      action="Set the markup"
      act={({ markup = "", reason = "" }) => {
        const body = { markup: markup.trim().replace(",", ".") || null, reason };
        return call(() => api.operator.accounts({ id: account.id }).markup.put(body));
      }}
      renews={[ACCOUNTS_KEY]}
      done="Markup set"
      onClose={onClose}
    >
      <Field
        label="Factor over the upstream cost"
        name="markup"
        hint={`Such as ${withPoint("1.15")}. Empty: the account pays the prices of the models.`}
        defaultValue={withPoint(account.markup ?? "")}
        inputMode="decimal"
        autoComplete="off"
      />
      <ReasonField />
    </ActionDialog>
  );
}
