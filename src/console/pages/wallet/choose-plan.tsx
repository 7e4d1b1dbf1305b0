import { useState } from "react";
import { api, call } from "../../api.ts";
import { formatCents, readUsd } from "../../format.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { Choice } from "../../parts/field.tsx";
import { Money } from "../../parts/money.tsx";
import type { Offer } from "../../queries/wallet.ts";
import { describePeriod } from "../../spending-limits.ts";
import { useAction, useIdempotencyKey } from "../../use-action.ts";

/** "month", or "30 days". */
export function lengthOf(period: string): string {
  return period === "month" ? "month" : `${period.slice(0, -1)} days`;
}

interface ChoosePlanProps {
  readonly account: string;
  readonly offers: readonly Offer[];
  readonly onClose: () => void;
}

/** Leads to Stripe's page. The plan begins when Stripe reports the payment. */
export function ChoosePlan({ account, offers, onClose }: ChoosePlanProps) {
  const [chosen, setChosen] = useState(offers[0]?.id ?? "");
  const headersFor = useIdempotencyKey();
  const order = useAction({
    act: (plan: string) => {
      const headers = headersFor({ plan });
      return call(() => api.accounts({ account }).subscription.checkouts.post({ plan }, { headers }));
    },
    isForm: true,
    onDone: ({ url }) => location.assign(url),
  });
  const offer = offers.find(({ id }) => id === chosen);
  return (
    <FormDialog
      title="Choose a plan"
      note="You pay on Stripe's page, and again at the beginning of each period until you cancel."
      action="Go to the payment"
      isBlocked={!offer || order.isSuccess}
      call={order}
      onSubmit={() => order.mutate(chosen)}
      onClose={onClose}
    >
      <Choice
        label="Plan"
        name="plan"
        value={chosen}
        onChange={({ currentTarget }) => setChosen(currentTarget.value)}
        options={offers.map(({ id, name, price_usd: price, period }) => ({
          value: id,
          text: `${name}, ${formatCents(readUsd(price ?? "0"))} each ${lengthOf(period)}`,
        }))}
      />
      {offer && <WhatItGives offer={offer} />}
    </FormDialog>
  );
}

function WhatItGives({ offer }: { readonly offer: Offer }) {
  const { grant_usd: grant, period, models, spending_limits: limits, carry_over: carried } = offer;
  return (
    <p>
      <Money usd={grant} /> of credit each {lengthOf(period)}, to be spent in it
      {carried > 0 && ` or in the ${carried} after it`}.
      {models && ` The account may use these models alone: ${models.join(", ")}.`}
      {limits.map(
        ({ amount_usd: amount, period: each }) =>
          ` At most ${formatCents(readUsd(amount))} ${describePeriod(each)}.`,
      )}
    </p>
  );
}
