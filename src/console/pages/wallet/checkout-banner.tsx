import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { IconButton } from "../../parts/button.tsx";
import { classes } from "../../parts/classes.ts";
import { Icon } from "../../parts/icons.tsx";
import { Money } from "../../parts/money.tsx";
import { checkoutQuery } from "./queries.ts";
import styles from "./wallet.module.css";

interface CheckoutBannerProps {
  readonly account: string;
  readonly checkout: string;
  /** Takes the payment out of the address. */
  readonly onClose: () => void;
}

/** Shows the state of the payment after the return from Stripe Checkout. */
export function CheckoutBanner({ account, checkout, onClose }: CheckoutBannerProps) {
  const { data, error } = useQuery(checkoutQuery(account, checkout));
  const queryClient = useQueryClient();
  const state = data?.state;
  useEffect(() => {
    if (state === "paid") void queryClient.invalidateQueries({ queryKey: ["account", account, "wallet"] });
  }, [state, account, queryClient]);
  const tone = error || state === "expired" ? styles.bad : state === "paid" && styles.good;
  return (
    <div className={classes(styles.banner, tone)} role="status">
      <Icon name={state === "paid" ? "check" : "info"} size={20} />
      <p>
        {error && "This payment is not known here."}
        {!error && !data && "Looking for the payment…"}
        {state === "open" && "The payment is on its way: the wallet is credited when Stripe confirms it."}
        {state === "expired" && "The payment was not made in time: nothing was charged."}
        {state === "paid" && data && (
          <>
            Paid: <Money usd={data.amount_usd} /> are in the wallet.
          </>
        )}
      </p>
      <IconButton icon="close" label="Close this message" size="small" onClick={onClose} />
    </div>
  );
}
