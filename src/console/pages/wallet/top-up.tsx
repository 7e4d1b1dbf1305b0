import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { ApiError, api, call } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Failure, Field, Form, readForm } from "../../parts/field.tsx";
import { AmountField } from "../../parts/typed-fields.tsx";
import { setupQuery } from "../../session.ts";
import { readAmount } from "../../typed-amount.ts";
import { useAction, useIdempotencyKey } from "../../use-action.ts";
import styles from "./wallet.module.css";

interface TopUpProps {
  readonly account: string;
  readonly onClose: () => void;
}

/** The server answers alike for all of these, so that codes cannot be probed. */
const UNKNOWN_CODE = "No open code reads like this: it is mistyped, used, revoked or expired.";

/** Adds money: by card where payments are set up, and by a code. */
export function TopUp({ account, onClose }: TopUpProps) {
  const { data: setup } = useQuery(setupQuery);
  return (
    <Dialog title="Top up the wallet" isOpen isKept onClose={onClose}>
      <div className={styles.stack}>
        {setup?.has_payments && <ByCard account={account} />}
        <ByCode account={account} onDone={onClose} />
        {setup && !setup.has_payments && (
          <p className={styles.quiet}>
            Payments by card are not set up here. Ask the operator for a code or a top-up.
          </p>
        )}
      </div>
    </Dialog>
  );
}

/** Leads to Stripe's page. The wallet is credited when Stripe reports the payment. */
function ByCard({ account }: { readonly account: string }) {
  const headersFor = useIdempotencyKey();
  const pay = useAction({
    act: (amount: string) => {
      const body = { amount_usd: readAmount(amount) };
      const headers = headersFor(body);
      return call(() => api.accounts({ account }).wallet.checkouts.post(body, { headers }));
    },
    isForm: true,
    onDone: ({ url }) => location.assign(url),
  });
  useEffect(() => {
    // A browser that comes back by its history shows the page as it was left, with its order already sent.
    const reload = ({ persisted }: PageTransitionEvent) => persisted && location.reload();
    addEventListener("pageshow", reload);
    return () => removeEventListener("pageshow", reload);
  }, []);
  return (
    <section className={styles.section}>
      <h3>By card</h3>
      <Form error={pay.error} onSubmit={(event) => pay.mutate(readForm(event).amount_usd ?? "")}>
        <AmountField
          hint="From $5 to $10,000. You pay on Stripe's page."
          refusal="Enter $5 to $10,000, in whole cents."
          defaultValue="50.00"
          decimals={2}
          required
        />
        <Failure error={pay.error} />
        <div>
          <Button type="submit" look="primary" isBusy={pay.isPending || pay.isSuccess}>
            Go to the payment
          </Button>
        </div>
      </Form>
    </section>
  );
}

function ByCode({ account, onDone }: { readonly account: string; readonly onDone: () => void }) {
  const redeem = useAction({
    act: (code: string) => call(() => api.accounts({ account }).wallet.redeem.post({ code })),
    renews: [["account", account, "wallet"]],
    done: "Code redeemed: the wallet is credited",
    isForm: true,
    onDone,
  });
  const isUnknown = redeem.error instanceof ApiError && redeem.error.status === 404;
  return (
    <section className={styles.section}>
      <h3>By code</h3>
      <Form error={redeem.error} onSubmit={(event) => redeem.mutate((readForm(event).code ?? "").trim())}>
        <Field
          label="Code"
          name="code"
          hint="20 letters and digits; dashes and case do not matter."
          maxLength={100}
          autoComplete="off"
          spellCheck={false}
          error={isUnknown ? UNKNOWN_CODE : undefined}
          required
        />
        {!isUnknown && <Failure error={redeem.error} />}
        <div>
          <Button type="submit" isBusy={redeem.isPending}>
            Redeem
          </Button>
        </div>
      </Form>
    </section>
  );
}
