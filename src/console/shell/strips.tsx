import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { api, call } from "../api.ts";
import { formatCents, localise, plural, readUsd } from "../format.ts";
import { Button, ButtonLink } from "../parts/button.tsx";
import { classes } from "../parts/classes.ts";
import { Time } from "../parts/time.tsx";
import { showToast } from "../parts/toast.tsx";
import { lastAnswerAt, useAway } from "../reachable.ts";
import {
  type AccountNow,
  accountNowQuery,
  operatorNowQuery,
  useIsInAccount,
  useMay,
  useMe,
} from "../session.ts";
import { formatTime } from "../times.ts";
import styles from "./shell.module.css";

/** What concerns every page, above all of them: what is away, refused, about to end, or resting, and where an operator acts. */
export function Strips() {
  const isInAccount = useIsInAccount();
  const { person } = useMe();
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
      {account !== undefined && isInAccount && <AccountStrip account={account} />}
      {person.is_operator && <RestingStrip />}
      <ActingStrip />
    </div>
  );
}

interface StripProps {
  /** Of a failure in red; of what may become one, and of a state that was chosen, in yellow. */
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

const AWAY = {
  gateway: "The gateway cannot be reached.",
  database: "The database does not answer.",
};

function AwayStrip() {
  const away = useAway();
  if (!away) return null;
  const at = new Date(lastAnswerAt()).toISOString();
  return (
    <Strip tone="bad" role="alert">
      {AWAY[away]} Figures are of <Time at={at} />
      <Age since={at} />. The page tries again by itself.
    </Strip>
  );
}

const AGE_EVERY_MS = 15_000;

/** How old something is. It moves on, so that it is not read aloud each time. */
function Age({ since }: { readonly since: string }) {
  const [, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setCount((count) => count + 1), AGE_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return <span aria-hidden="true">, {formatTime(since, "relative")}</span>;
}

/** The worst of what concerns an account: every request is refused, some were, or the money will soon be spent. */
function AccountStrip({ account }: { readonly account: string }) {
  const { data } = useQuery(accountNowQuery(account));
  if (!data) return null;
  const { next_refusal: refusal, recently_refused: refused, wallet } = data;
  if (refusal) {
    const isOfMoney = refusal.code === "insufficient_balance";
    return (
      <Strip tone="bad" role="status" action={isOfMoney && <ToWallet account={account} wallet={wallet} />}>
        <strong>Requests are being refused.</strong> {localise(refusal.text)}{" "}
        {!isOfMoney && "Ask the operator of this platform."}
      </Strip>
    );
  }
  if (refused) return <RecentlyRefused account={account} refused={refused} />;
  if (wallet?.runway_days === null || wallet?.runway_days === undefined || wallet.runway_days >= 1)
    return null;
  return (
    <Strip tone="warn" role="status" action={<ToWallet account={account} wallet={wallet} />}>
      {formatCents(readUsd(wallet.available_usd))} are left in the wallet: under a day at the rate of the last
      7 days.
    </Strip>
  );
}

interface ToWalletProps {
  readonly account: string;
  readonly wallet: AccountNow["wallet"];
}

/** Leads to a plan that the account may buy, else to a top-up. */
function ToWallet({ account, wallet }: ToWalletProps) {
  const mayPay = useMay("wallet.write");
  const [text, search] = !mayPay
    ? ["Wallet", {}]
    : wallet?.may_subscribe
      ? ["Choose a plan", { plan: "choose" }]
      : ["Top up", { topup: "1" }];
  return (
    <ButtonLink size="small" to="/accounts/$account/wallet" params={{ account }} search={search}>
      {text}
    </ButtonLink>
  );
}

interface RecentlyRefusedProps {
  readonly account: string;
  readonly refused: NonNullable<AccountNow["recently_refused"]>;
}

function RecentlyRefused({ account, refused }: RecentlyRefusedProps) {
  const { count, request_id: request, key_name: key, code } = refused;
  return (
    <Strip
      tone="warn"
      role="status"
      action={
        <ButtonLink size="small" to="/accounts/$account/refusals/$request" params={{ account, request }}>
          See why
        </ButtonLink>
      }
    >
      {plural(count, "request was", "requests were")} refused in the last 10 minutes, the newest
      {key && ` of the key “${key}”`} with {code.replaceAll("_", " ")}.
    </Strip>
  );
}

/** The upstreams that take no calls, for operators. */
function RestingStrip() {
  const { data } = useQuery(operatorNowQuery);
  const [first, ...others] = data?.resting ?? [];
  if (!first) return null;
  const { name, is_forced: isForced, is_rejected: isRejected, until } = first;
  return (
    <Strip
      tone="warn"
      role="status"
      action={
        <ButtonLink size="small" to="/operator/health">
          Health
        </ButtonLink>
      }
    >
      The upstream “{name}” {describeRest({ isForced, isRejected })}
      {until && !isForced && (
        <>
          {" "}
          until <Time at={until} as="moment" />
        </>
      )}
      .{others.length > 0 && ` So ${plural(others.length, "other does", "others do")}.`}
    </Strip>
  );
}

function describeRest({
  isForced,
  isRejected,
}: {
  readonly isForced: boolean;
  readonly isRejected: boolean;
}) {
  if (isForced) return "rests: an operator opened its circuit";
  return isRejected ? "rests: it rejects its key" : "rests";
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
