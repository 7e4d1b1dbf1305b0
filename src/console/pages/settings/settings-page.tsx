import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import styles from "../../parts/stack.module.css";
import { meQuery, useAccount, useMay } from "../../session.ts";
import { useAction } from "../../use-action.ts";

const route = getRouteApi("/shell/accounts/$account/settings");

type Account = Awaited<ReturnType<typeof fetchAccount>>;

const fetchAccount = (account: string) => call(() => api.accounts({ account }).get());
const keyOf = (account: string) => ["account", account, "settings"];

/** Name and address of the account, and the way out of it. */
export function SettingsPage() {
  const { account } = route.useParams();
  const { role } = useAccount();
  const { data, error, refetch } = useQuery({
    queryKey: keyOf(account),
    queryFn: () => fetchAccount(account),
  });
  return (
    <div className={styles.page}>
      <PageHeader title="Settings" note={<code>{account}</code>} />
      <Panel title="Account">
        {error && !data && <ErrorPanel error={error} onRetry={() => void refetch()} />}
        {!error && !data && <Skeleton lines={4} />}
        {data && <Details key={data.version} account={data} />}
      </Panel>
      {role !== "acting" && <Leave account={account} />}
    </div>
  );
}

function Details({ account }: { readonly account: Account }) {
  const mayWrite = useMay("account.write");
  const save = useAction({
    act: ({ name = "", email = "" }: Readonly<Record<string, string>>) => {
      const body = { name, email: email || null, version: account.version };
      return call(() => api.accounts({ account: account.id }).patch(body));
    },
    renews: [keyOf(account.id), meQuery.queryKey],
    done: "Account saved",
    isForm: true,
  });
  const { error } = save;
  const theirs = error instanceof ApiError && error.code === "conflict" ? readCurrent(error.body) : undefined;
  return (
    <div className={styles.narrow}>
      <Form onSubmit={(event) => save.mutate(readForm(event))}>
        <Field
          label="Name"
          name="name"
          defaultValue={account.name}
          error={differing(theirs?.name, account.name)}
          maxLength={100}
          disabled={!mayWrite}
          required
        />
        <Field
          label="E-mail"
          name="email"
          type="email"
          hint="Where the account is reached."
          defaultValue={account.email ?? ""}
          error={differing(theirs?.email, account.email)}
          disabled={!mayWrite}
          isOptional
        />
        <Failure error={error} />
        {mayWrite && (
          <Button type="submit" look="primary" className={styles.start} isBusy={save.isPending}>
            Save
          </Button>
        )}
      </Form>
    </div>
  );
}

/** The account as another editor left it, from the body of a 409. */
function readCurrent(body: unknown): Pick<Account, "name" | "email"> | undefined {
  if (typeof body !== "object" || body === null || !("current" in body)) return undefined;
  // Safe because the route answers a conflict with the account.
  return body.current as Account;
}

function differing(theirs: string | null | undefined, before: string | null): string | undefined {
  if (theirs === undefined || theirs === before) return undefined;
  return `Changed meanwhile to: ${theirs ?? "none"}. Reload the page to go on from there.`;
}

function Leave({ account }: { readonly account: string }) {
  const navigate = useNavigate();
  const [isOpen, setIsOpen] = useState(false);
  const leave = useAction({
    act: () => call(() => api.accounts({ account }).leave.post()),
    renews: [meQuery.queryKey],
    done: "You left the account",
    isForm: true,
    onDone: () => navigate({ to: "/profile" }),
  });
  return (
    <Panel title="Leave the account" note="Keys that you made go on. The last owner cannot leave.">
      <Button look="danger" onClick={() => setIsOpen(true)}>
        Leave…
      </Button>
      {isOpen && (
        <Confirm
          title="Leave the account"
          note="You no longer see it. An owner can invite you again."
          action="Leave"
          isDanger
          call={leave}
          onConfirm={() => leave.mutate()}
          onClose={() => setIsOpen(false)}
        />
      )}
    </Panel>
  );
}
