import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { ButtonLink } from "../../parts/button.tsx";
import { classes } from "../../parts/classes.ts";
import { Icon } from "../../parts/icons.tsx";
import stack from "../../parts/stack.module.css";
import { invitationsQuery, membersQuery } from "../../queries/account.ts";
import { keyNamesQuery } from "../../queries/overview.ts";
import { setupQuery, useMay } from "../../session.ts";
import styles from "./first-steps.module.css";

interface NextStepsProps {
  readonly account: string;
  /** The key of the first request. */
  readonly usedKeyId: string;
}

/** What is worth doing after a first request: a bound for its key, and company. */
export function NextSteps({ account, usedKeyId }: NextStepsProps) {
  const mayLimit = useMay("keys.write");
  const mayInvite = useMay("members.write");
  return (
    <>
      {mayLimit && <SetLimit account={account} usedKeyId={usedKeyId} />}
      {mayInvite && <InviteOthers account={account} />}
    </>
  );
}

function SetLimit({ account, usedKeyId }: NextStepsProps) {
  const { data: keys } = useQuery(keyNamesQuery(account));
  const used = keys?.items.find(({ id }) => id === usedKeyId);
  const isDone = keys?.items.some(({ spending_limit: limit }) => limit !== null) ?? false;
  return (
    <Step number={4} title={isDone ? "A key has a limit" : "Set a limit"} isDone={isDone}>
      {!isDone && used && (
        <>
          <p className={styles.quiet}>
            A key without one may spend the whole wallet. Beyond a limit, requests are refused before they
            cost.
          </p>
          <ButtonLink
            icon="key"
            to="/accounts/$account/keys/$key"
            params={{ account, key: used.id }}
            search={{ tab: "edit" }}
          >
            {`Limit ${used.name}`}
          </ButtonLink>
        </>
      )}
    </Step>
  );
}

function InviteOthers({ account }: { readonly account: string }) {
  const { data: setup } = useQuery(setupQuery);
  const { data: members } = useQuery(membersQuery(account));
  const { data: invitations } = useQuery(invitationsQuery(account));
  const isDone = (members?.items.length ?? 0) > 1 || (invitations?.items.length ?? 0) > 0;
  return (
    <Step number={5} title={isDone ? "Others are invited" : "Invite the others"} isDone={isDone}>
      {!isDone && (
        <>
          <p className={styles.quiet}>
            {setup?.has_mail === false
              ? "This server sends no mail: each invitation is a link for you to pass on."
              : "Each gets a mail with a link, a role, and keys of their own."}
          </p>
          <ButtonLink icon="team" to="/accounts/$account/team" params={{ account }} search={{ invite: "1" }}>
            Invite a person
          </ButtonLink>
        </>
      )}
    </Step>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly children?: ReactNode;
}

/** A step whose number becomes a green check. One that is done while it is looked at, moves a little. */
export function Step({ number, title, isDone, children }: StepProps) {
  const wasOpen = useRef(!isDone);
  const isFresh = isDone && wasOpen.current;
  return (
    <li className={styles.step}>
      <span className={classes(styles.number, isDone && styles.done, isFresh && styles.fresh)}>
        {isDone ? <Icon name="check" /> : number}
      </span>
      <div className={styles.content}>
        <h3>
          {title}
          {isDone && <span className={stack.unseen}> (done)</span>}
        </h3>
        {children}
      </div>
    </li>
  );
}
