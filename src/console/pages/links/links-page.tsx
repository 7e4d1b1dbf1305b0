import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Confirm, FormDialog, SecretDialog } from "../../parts/dialog.tsx";
import { Choice } from "../../parts/field.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { linksQuery, type SharedLink } from "../../queries/account.ts";
import { keyNamesQuery } from "../../queries/overview.ts";
import { useMay } from "../../session.ts";
import { DAY_MS } from "../../times.ts";
import { useAction } from "../../use-action.ts";

const route = getRouteApi("/shell/accounts/$account/links");

const COLUMNS: readonly Column<SharedLink>[] = [
  {
    id: "shows",
    header: "Shows",
    cell: ({ key, shows_names }) => (
      <span className={styles.named}>
        {key ? `Key ${key.name}` : "Whole account"}
        <small>{shows_names ? "names shown" : "names hidden"}</small>
      </span>
    ),
  },
  {
    id: "state",
    header: "State",
    isNarrow: true,
    cell: ({ state }) => <Badge tone={state === "active" ? "good" : "neutral"}>{state}</Badge>,
  },
  {
    id: "created",
    header: "Created",
    isNarrow: true,
    cell: ({ created_at, created_by }) => (
      <span className={styles.named}>
        <Time at={created_at} as="date" />
        <small>by {created_by}</small>
      </span>
    ),
  },
  { id: "expires", header: "Expires", isNarrow: true, cell: ({ expires_at }) => <Time at={expires_at} /> },
];

/** Read-only links to usage, for people without a session. */
export function LinksPage() {
  const { account } = route.useParams();
  const mayWrite = useMay("links.write");
  const { queryKey } = linksQuery(account);
  const [isCreating, setIsCreating] = useState(false);
  const [chosen, setChosen] = useState<SharedLink>();
  const list = useQuery(linksQuery(account));
  const end = useAction({
    act: (link: string) => call(() => api.accounts({ account }).links({ link }).delete()),
    renews: [queryKey],
    done: "Link revoked",
    isForm: true,
    onDone: () => setChosen(undefined),
  });
  return (
    <div className={styles.page}>
      <PageHeader
        title="Shared links"
        note="Whoever has a link sees the usage of one key or of the account, and nothing else."
      >
        {mayWrite && (
          <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
            Create link
          </Button>
        )}
      </PageHeader>
      <Panel isFlush>
        <DataTable
          caption="Shared links"
          columns={mayWrite ? [...COLUMNS, revokeColumn(setChosen)] : COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <Empty icon="link" title="No link is shared">
              A link shows usage to somebody without an account, until it expires.
            </Empty>
          }
          query={list}
          skeletonRows={3}
        />
      </Panel>
      {isCreating && <NewLink account={account} queryKey={queryKey} onClose={() => setIsCreating(false)} />}
      {chosen && (
        <Confirm
          title="Revoke the link"
          note="Whoever has it sees nothing any more. This cannot be undone."
          action="Revoke"
          isDanger
          call={end}
          onConfirm={() => end.mutate(chosen.id)}
          onClose={() => setChosen(undefined)}
        />
      )}
    </div>
  );
}

function revokeColumn(choose: (link: SharedLink) => void): Column<SharedLink> {
  return {
    id: "revoke",
    header: "",
    align: "end",
    cell: (link) =>
      link.state === "active" && (
        <Button
          size="small"
          look="danger"
          aria-label={`Revoke the link to ${link.key ? `key ${link.key.name}` : "the whole account"}`}
          onClick={() => choose(link)}
        >
          Revoke
        </Button>
      ),
  };
}

interface NewLinkProps {
  readonly account: string;
  readonly queryKey: readonly string[];
  readonly onClose: () => void;
}

const LIVES = [
  { value: "1", text: "a day" },
  { value: "7", text: "a week" },
  { value: "30", text: "30 days" },
  { value: "90", text: "90 days" },
] as const;

/** Creates a link, then shows it once. */
function NewLink({ account, queryKey, onClose }: NewLinkProps) {
  const { data: keys } = useQuery(keyNamesQuery(account));
  const create = useAction({
    act: ({ key = "", names, days }: Readonly<Record<string, string>>) =>
      call(() =>
        api.accounts({ account }).links.post({
          ...(key !== "" && { key }),
          shows_names: names === "yes",
          expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
        }),
      ),
    renews: [queryKey],
    isForm: true,
  });
  if (create.data) {
    return (
      <SecretDialog
        title="The link is ready"
        note="This is the only time that the link is shown: only its digest is stored."
        label="link"
        secret={create.data.url}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title="Create a shared link"
      note="Whoever has it reads usage of the last 30 days. It can be revoked."
      action="Create"
      call={create}
      onSubmit={(values) => create.mutate(values)}
      onClose={onClose}
    >
      <Choice
        label="Shows"
        name="key"
        options={[
          { value: "", text: "the whole account" },
          ...(keys?.items ?? []).map(({ id, name }) => ({ value: id, text: `the key ${name}` })),
        ]}
      />
      <Choice
        label="Names of account and keys"
        name="names"
        options={[
          { value: "no", text: "hidden" },
          { value: "yes", text: "shown" },
        ]}
      />
      <Choice label="Expires after" name="days" defaultValue="7" options={LIVES} />
    </FormDialog>
  );
}
