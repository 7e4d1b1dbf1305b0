import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { api, call } from "../api.ts";
import { localise } from "../format.ts";
import { Button, ButtonLink } from "../parts/button.tsx";
import { classes } from "../parts/classes.ts";
import { Time } from "../parts/time.tsx";
import { showToast } from "../parts/toast.tsx";
import { useAwaySince } from "../reachable.ts";
import { accountNowQuery, useIsInAccount, useMay, useMe } from "../session.ts";
import styles from "./shell.module.css";

/** What concerns every page, above all of them: the server is away, requests are refused, an operator acts. */
export function Strips() {
  const isInAccount = useIsInAccount();
  const { account } = useParams({ strict: false });
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!place.current) return;
    const { style } = document.documentElement;
    // The navigation takes what the strips leave of the window, so that its end stays in sight.
    const observer = new ResizeObserver(([strips]) =>
      style.setProperty("--strips", `${strips?.contentRect.height ?? 0}px`),
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={place} className={styles.strips}>
      <AwayStrip />
      {account !== undefined && isInAccount && <RefusedStrip account={account} />}
      <ActingStrip />
    </div>
  );
}

interface StripProps {
  /** Of a failure in red; of a state that was chosen in yellow. */
  readonly tone: "bad" | "warn";
  /** An alert is read aloud at once. */
  readonly role: "alert" | "status";
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

function Strip({ tone, role, children, action }: StripProps) {
  return (
    <div className={classes(styles.strip, tone === "bad" && styles.bad)} role={role}>
      <span>{children}</span>
      {action}
    </div>
  );
}

function AwayStrip() {
  const sinceMs = useAwaySince();
  if (sinceMs === undefined) return null;
  return (
    <Strip tone="bad" role="alert">
      The gateway cannot be reached. Figures are of <Time at={new Date(sinceMs).toISOString()} as="minute" />.
      The page tries again by itself.
    </Strip>
  );
}

function RefusedStrip({ account }: { readonly account: string }) {
  const refusal = useQuery(accountNowQuery(account)).data?.next_refusal;
  const mayTopUp = useMay("wallet.write");
  if (!refusal) return null;
  const isOfMoney = refusal.code === "insufficient_balance";
  return (
    <Strip
      tone="bad"
      role="status"
      action={
        isOfMoney && (
          <ButtonLink
            size="small"
            to="/accounts/$account/wallet"
            params={{ account }}
            search={mayTopUp ? { topup: "1" } : {}}
          >
            {mayTopUp ? "Top up" : "Wallet"}
          </ButtonLink>
        )
      }
    >
      <strong>Requests are being refused.</strong> {localise(refusal.text)}{" "}
      {!isOfMoney && "Ask the operator of this platform."}
    </Strip>
  );
}

function ActingStrip() {
  const { acting } = useMe();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const end = useMutation({
    mutationFn: () => call(() => api.operator.acting.delete()),
    onSuccess: async () => {
      // First away: the pages of the account have nothing to show any more.
      await navigate({ to: "/operator/accounts" });
      await queryClient.invalidateQueries();
    },
    onError: (error) => showToast(error.message, "bad"),
  });
  if (!acting) return null;
  return (
    <Strip
      tone="warn"
      role="status"
      action={
        <Button size="small" isBusy={end.isPending} onClick={() => end.mutate()}>
          Leave the account
        </Button>
      }
    >
      You act inside “{acting.account_name}” until <Time at={acting.until} as="minute" />. Every step is
      logged.
    </Strip>
  );
}
