import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, call } from "../../api.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { CopiedId } from "../../parts/code-block.tsx";
import { ConflictDialog, type FieldInWords, useEdit } from "../../parts/conflict-dialog.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Fact } from "../../parts/facts.tsx";
import { Failure, Field, Form, readForm } from "../../parts/field.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { type Account, accountQuery, membersQuery } from "../../queries/account.ts";
import { meQuery, useAccount, useMay } from "../../session.ts";
import { Attribution } from "./attribution.tsx";
import { BillingDetails } from "./billing-details.tsx";
import { ForgetUser } from "./forget-user.tsx";

const route = getRouteApi("/shell/accounts/$account/settings");

/** Name and address of the account, its facts, and the way out of it. */
export function SettingsPage() {
  const { account } = route.useParams();
  const { role } = useAccount();
  const query = useQuery(accountQuery(account));
  return (
    <div className={styles.page}>
      <PageHeader title="Settings" note="Of this account. Your own are in your profile." />
      <Loaded query={query}>
        {(data) => (
          <div className={styles.columns}>
            <Panel title="Account">
              <AccountDetails key={data.id} opened={data} />
            </Panel>
            <Panel title="Facts">
              <Facts account={data} />
            </Panel>
          </div>
        )}
      </Loaded>
      <BillingDetails account={account} />
      <Attribution account={account} />
      <ForgetUser account={account} />
      {role !== "acting" && <Leave />}
    </div>
  );
}

function Facts({ account: { id, state, created_at } }: { readonly account: Account }) {
  return (
    <dl className={styles.facts}>
      <Fact name="Id">
        <CopiedId id={id} label="Copy the id" />
      </Fact>
      <Fact name="State">
        <Badge tone={state === "active" ? "good" : "bad"}>{state}</Badge>
      </Fact>
      <Fact name="Created">
        <Time at={created_at} as="date" />
      </Fact>
    </dl>
  );
}

type Details = Pick<Account, "name" | "email">;

/** Name and address of the account. When another edit came first, shows both versions. */
function AccountDetails({ opened }: { readonly opened: Account }) {
  const mayWrite = useMay("account.write");
  const { base, edit, current, conflict, submit } = useEdit({
    opened,
    valuesOf: ({ name, email }): Details => ({ name, email }),
    save: (change) => call(() => api.accounts({ account: opened.id }).patch(change)),
    renews: [accountQuery(opened.id).queryKey, meQuery.queryKey],
    done: "Account saved",
  });
  const isTaken = !current && edit.error instanceof ApiError && edit.error.code === "conflict";
  return (
    <div className={styles.narrow}>
      <Form
        key={base.version}
        error={edit.error}
        onSubmit={(event) => {
          const { name = "", email = "" } = readForm(event);
          submit({ name: name.trim(), email: email || null });
        }}
      >
        <Field
          label="Name"
          name="name"
          error={isTaken ? "Another account has this name." : undefined}
          defaultValue={base.name}
          maxLength={100}
          disabled={!mayWrite}
          required
        />
        <Field
          label="E-mail"
          name="email"
          type="email"
          hint="For the operator of this platform: where to reach you about the account."
          defaultValue={base.email ?? ""}
          maxLength={254}
          disabled={!mayWrite}
          isOptional
        />
        {!current && !isTaken && <Failure error={edit.error} />}
        {mayWrite ? (
          <Button type="submit" look="primary" className={styles.start} isBusy={edit.isPending}>
            Save
          </Button>
        ) : (
          <p className={styles.soft}>Owners may change these.</p>
        )}
      </Form>
      {conflict && (
        <ConflictDialog
          thing="account"
          conflict={conflict}
          describe={describe}
          onClose={() => edit.reset()}
        />
      )}
    </div>
  );
}

function describe({ name, email }: Details): readonly FieldInWords[] {
  return [
    ["Name", name],
    ["E-mail", email ?? "none"],
  ];
}

/** Lets a member leave the account. The only owner reads what must be done first. */
function Leave() {
  const { id, name, role } = useAccount();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const { data } = useQuery(membersQuery(id));
  const owners = data?.items.filter((member) => member.role === "owner").length;
  if (role === "owner" && owners === 1) {
    return (
      <Panel
        title="Leave the account"
        note="You are its only owner, and an account keeps one. Make another member owner first."
      >
        <ButtonLink to="/accounts/$account/team" params={{ account: id }}>
          Go to the team
        </ButtonLink>
      </Panel>
    );
  }
  return (
    <Panel
      title="Leave the account"
      note="You no longer see it. Keys and links that you made are revoked; an owner who removes you may take them over."
    >
      <Button look="danger" onClick={() => setIsOpen(true)}>
        Leave…
      </Button>
      {isOpen && (
        <Confirm
          title={`Leave ${name}`}
          note="You no longer see its keys, usage and wallet. An owner can invite you again."
          action="Leave"
          isDanger
          act={() => call(() => api.accounts({ account: id }).leave.post())}
          done={`You left ${name}`}
          onDone={async () => {
            // First away, then read again: the pages of an account that was left have nothing to show.
            await navigate({ to: "/profile" });
            await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
          }}
          onClose={() => setIsOpen(false)}
        />
      )}
    </Panel>
  );
}
