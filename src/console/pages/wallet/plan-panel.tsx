import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, call } from "../../api.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { type OwnSubscription, offersQuery, subscriptionQuery } from "../../queries/wallet.ts";
import { useMay } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { ChoosePlan, lengthOf } from "./choose-plan.tsx";

/** Until the event of a payment has come. */
const ORDER_POLL_MS = 2_000;

interface PlanPanelProps {
  readonly account: string;
  /** "ordered" once Stripe has led its payer back, "choose" while the choice is open. */
  readonly state: string | undefined;
  readonly onChange: (search: { readonly plan: "choose" | undefined }) => void;
}

/** The plan of an account and what comes next, in one sentence each; without a plan, those that it may buy. */
export function PlanPanel(props: PlanPanelProps) {
  const { account, state: step } = props;
  const isOrdered = step === "ordered";
  const { data } = useQuery({
    ...subscriptionQuery(account),
    refetchInterval: ({ state }) => (isOrdered && !state.data?.subscription ? ORDER_POLL_MS : false),
  });
  const subscription = data?.subscription;
  const queryClient = useQueryClient();
  const hasBegun = isOrdered && Boolean(subscription);
  useEffect(() => {
    // The plan has brought money: the balance and the strip above are of before.
    if (hasBegun) void queryClient.invalidateQueries({ queryKey: ["account", account] });
  }, [hasBegun, account, queryClient]);
  if (!data) return null;
  if (!subscription) return <NoPlan {...props} />;
  const { plan, state, billed_by: biller } = subscription;
  return (
    <Panel
      title={
        <>
          Plan {plan.name} {state === "paused" && <Badge tone="bad">paused</Badge>}
        </>
      }
      actions={biller === "stripe" && <Portal account={account} />}
    >
      <p>
        <Money usd={plan.grant_usd} /> of credit each {lengthOf(plan.period)}.{" "}
        <Next subscription={subscription} />
        {plan.models && ` The account may use ${plan.models.length} models.`}
      </p>
      <p>
        This period cost <Money usd={subscription.period_spent_usd} /> of its{" "}
        <Money usd={subscription.period_granted_usd} />, since <Time at={subscription.period_starts_at} />.
      </p>
    </Panel>
  );
}

function NoPlan({ account, state, onChange }: PlanPanelProps) {
  const { data } = useQuery(offersQuery(account));
  const mayBuy = useMay("wallet.write");
  const offers = data?.items ?? [];
  if (state === "ordered") {
    return (
      <Panel title="Plan">
        <p role="status">The payment is on its way: the plan begins when Stripe confirms it.</p>
      </Panel>
    );
  }
  if (offers.length === 0 || !mayBuy) return null;
  return (
    <Panel title="Plan" actions={<Button onClick={() => onChange({ plan: "choose" })}>Choose a plan</Button>}>
      <p>The account has no plan.</p>
      {state === "choose" && (
        <ChoosePlan account={account} offers={offers} onClose={() => onChange({ plan: undefined })} />
      )}
    </Panel>
  );
}

/** Leads to the customer portal of Stripe. */
function Portal({ account }: { readonly account: string }) {
  const mayManage = useMay("wallet.write");
  const open = useAction({
    act: () => call(() => api.accounts({ account }).subscription.portal.post()),
    onDone: ({ url }) => location.assign(url),
  });
  useEffect(() => {
    // A browser that comes back by its history shows the page as it was left, with its button still busy.
    const reload = ({ persisted }: PageTransitionEvent) => persisted && location.reload();
    addEventListener("pageshow", reload);
    return () => removeEventListener("pageshow", reload);
  }, []);
  if (!mayManage) return null;
  return (
    <Button isBusy={open.isPending || open.isSuccess} onClick={() => open.mutate()}>
      Manage at Stripe
    </Button>
  );
}

function Next({ subscription }: { readonly subscription: OwnSubscription }) {
  const { state, ends_at: endsAt, next_period_at: nextAt, plan, next_plan: nextPlan } = subscription;
  const { billed_by: biller, period_ends_at: paidUntil, grace_ends_at: graceEnd } = subscription;
  if (endsAt !== null) {
    return (
      <>
        The plan ends on <Time at={endsAt} />.
      </>
    );
  }
  if (state === "paused" || nextAt === null) {
    return biller === "stripe"
      ? "The plan is paused: no payment came, or payments are stopped. It goes on with the next payment."
      : "The plan is paused: no credit follows until it is resumed.";
  }
  if (biller === "stripe" && graceEnd !== null && Date.parse(paidUntil) < Date.now()) {
    return (
      <>
        The payment of this period has not come: the plan is paused on <Time at={graceEnd} />.
      </>
    );
  }
  return (
    <>
      The next <Money usd={(nextPlan ?? plan).grant_usd} /> {nextPlan ? `of plan ${nextPlan.name} ` : ""}
      follow on <Time at={nextAt} />
      {biller === "stripe" && ", when they are paid"}.
    </>
  );
}
