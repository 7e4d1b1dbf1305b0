import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api, call } from "../../api.ts";
import { localise } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { ActionDialog } from "../../parts/dialog.tsx";
import { Money } from "../../parts/money.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { AmountField } from "../../parts/typed-fields.tsx";
import { type AutoTopUp, autoTopUpQuery } from "../../queries/wallet.ts";
import { useMay } from "../../session.ts";
import { readAmount } from "../../typed-amount.ts";
import { useAction } from "../../use-action.ts";
import styles from "./wallet.module.css";

interface AutoTopUpProps {
  readonly account: string;
}

const STATES: Readonly<Record<AutoTopUp["state"], { readonly text: string; readonly tone: Tone }>> = {
  on: { text: "on", tone: "good" },
  stopped: { text: "stopped", tone: "bad" },
  off: { text: "off", tone: "neutral" },
  no_card: { text: "no card", tone: "warn" },
};

const routes = (account: string) => api.accounts({ account }).wallet["auto-top-up"];
const renews = (account: string) => [["account", account, "wallet", "auto-top-up"]];

/** What is added to the wallet by itself, and what was added last. Absent where payments are not set up. */
export function AutoTopUpPanel({ account }: AutoTopUpProps) {
  const { data } = useQuery(autoTopUpQuery(account));
  useRenewal(account, data);
  const mayWrite = useMay("wallet.write");
  const [isEditing, setIsEditing] = useState(false);
  if (!data?.is_offered) return null;
  const { text, tone } = STATES[data.state];
  const isSetUp = data.amount_usd !== null;
  return (
    <Panel
      title={
        <>
          Automatic top-up <Badge tone={tone}>{text}</Badge>
        </>
      }
      note={localise(data.text)}
      actions={
        mayWrite && (
          <>
            {isSetUp && <CardButtons account={account} card={data.card} />}
            {isSetUp && data.state !== "off" && <SwitchOff account={account} terms={data} />}
            <Button onClick={() => setIsEditing(true)}>{isSetUp ? "Change or switch on" : "Set up"}</Button>
          </>
        )
      }
    >
      <Facts autoTopUp={data} />
      {isEditing && <TermsDialog account={account} terms={data} onClose={() => setIsEditing(false)} />}
    </Panel>
  );
}

/** Reads the wallet and its entries again when a payment has come in. */
function useRenewal(account: string, autoTopUp: AutoTopUp | undefined): void {
  const queryClient = useQueryClient();
  const seen = useRef<string>(undefined);
  const paid = autoTopUp && (autoTopUp.last?.state === "paid" ? (autoTopUp.last.id ?? "") : "");
  useEffect(() => {
    if (seen.current !== undefined && paid !== seen.current) {
      void queryClient.invalidateQueries({ queryKey: ["account", account, "wallet"] });
    }
    seen.current = paid;
  }, [paid, account, queryClient]);
}

function Facts({ autoTopUp: { card, month_usd, month_max_usd, last } }: { readonly autoTopUp: AutoTopUp }) {
  return (
    <p className={styles.quiet}>
      {card === null ? "No card is saved. " : `Paid by ${card}. `}
      {month_max_usd !== null && (
        <>
          <Money usd={month_usd} /> of <Money usd={month_max_usd} /> of this month (UTC) are used.{" "}
        </>
      )}
      {last && (
        <>
          Last: <Money usd={last.amount_usd} /> {last.state}
          {last.failure !== null && ` (${last.failure.replaceAll("_", " ")})`},{" "}
          <Time at={last.at} as="relative" />.
        </>
      )}
    </p>
  );
}

/** Leads to Stripe's page, on which the card is saved. */
function useCardPage(account: string) {
  return useAction({
    act: () => call(() => routes(account).card.post()),
    onDone: ({ url }) => location.assign(url),
  });
}

function CardButtons({ account, card }: AutoTopUpProps & { readonly card: string | null }) {
  const open = useCardPage(account);
  const remove = useAction({
    act: () => call(() => routes(account).card.delete()),
    renews: renews(account),
    done: "Card removed",
  });
  return (
    <>
      <Button isBusy={open.isPending || open.isSuccess} onClick={() => open.mutate()}>
        {card === null ? "Save a card" : "Change the card"}
      </Button>
      {card !== null && (
        <Button isBusy={remove.isPending} onClick={() => remove.mutate()}>
          Remove the card
        </Button>
      )}
    </>
  );
}

function SwitchOff({ account, terms }: AutoTopUpProps & { readonly terms: AutoTopUp }) {
  const { below_usd, amount_usd, month_max_usd } = terms;
  const body = {
    is_on: false,
    below_usd: below_usd ?? "0",
    amount_usd: amount_usd ?? "0",
    month_max_usd: month_max_usd ?? "0",
  };
  const off = useAction({
    act: () => call(() => routes(account).put(body)),
    renews: renews(account),
    done: "Automatic top-up switched off",
  });
  return (
    <Button isBusy={off.isPending} onClick={() => off.mutate()}>
      Switch off
    </Button>
  );
}

interface TermsProps extends AutoTopUpProps {
  readonly terms: AutoTopUp;
  readonly onClose: () => void;
}

/** Sets the amounts and switches it on. Without a card, Stripe's page for one follows. */
function TermsDialog({ account, terms, onClose }: TermsProps) {
  const page = useCardPage(account);
  return (
    <ActionDialog
      title="Automatic top-up"
      note="A saved card is charged without asking, up to the maximum of the month."
      action={terms.card === null ? "Save, and choose a card at Stripe" : "Save and switch on"}
      act={(values) => {
        const body = {
          is_on: true,
          below_usd: readAmount(values.below_usd),
          amount_usd: readAmount(values.amount_usd),
          month_max_usd: readAmount(values.month_max_usd),
        };
        return call(() => routes(account).put(body));
      }}
      renews={renews(account)}
      onDone={({ card }) => {
        if (card === null) page.mutate();
        onClose();
      }}
      onClose={onClose}
    >
      <AmountField
        label="When less than this is available"
        name="below_usd"
        refusal="Enter $0 to $10,000."
        defaultValue={terms.below_usd ?? "10.00"}
        required
      />
      <AmountField
        label="add"
        name="amount_usd"
        refusal="Enter $5 to $10,000, in whole cents."
        defaultValue={terms.amount_usd ?? "50.00"}
        decimals={2}
        required
      />
      <AmountField
        label="and at most, in a month (UTC)"
        name="month_max_usd"
        refusal="Enter at least the amount above, and at most $100,000."
        defaultValue={terms.month_max_usd ?? "200.00"}
        decimals={2}
        required
      />
    </ActionDialog>
  );
}
