import { useQuery } from "@tanstack/react-query";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { type OwnSubscription, subscriptionQuery } from "../../queries/wallet.ts";

/** The plan of an account and what comes next, in one sentence each; nothing without a plan. */
export function PlanPanel({ account }: { readonly account: string }) {
  const { data } = useQuery(subscriptionQuery(account));
  const subscription = data?.subscription;
  if (!subscription) return null;
  const { plan } = subscription;
  const length = plan.period === "month" ? "month" : `${plan.period.slice(0, -1)} days`;
  return (
    <Panel title={`Plan ${plan.name}`}>
      <p>
        <Money usd={plan.grant_usd} /> of credit each {length}. <Next subscription={subscription} />
        {plan.models && ` The account may use ${plan.models.length} models.`}
      </p>
    </Panel>
  );
}

function Next({ subscription }: { readonly subscription: OwnSubscription }) {
  const { state, ends_at: endsAt, next_period_at: nextAt, plan, next_plan: nextPlan } = subscription;
  if (endsAt !== null) {
    return (
      <>
        The plan ends on <Time at={endsAt} />.
      </>
    );
  }
  if (state === "paused" || nextAt === null)
    return "The plan is paused: no credit follows until it is resumed.";
  return (
    <>
      The next <Money usd={(nextPlan ?? plan).grant_usd} /> {nextPlan ? `of plan ${nextPlan.name} ` : ""}
      follow on <Time at={nextAt} />.
    </>
  );
}
