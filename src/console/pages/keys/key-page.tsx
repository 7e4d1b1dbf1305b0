import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { CostChart } from "../../parts/cost-chart.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { Menu } from "../../parts/menu.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { type KeyPageData, keyQuery, useMayChange } from "../../queries/keys.ts";
import { withSearch } from "../../search.ts";
import { useMay } from "../../session.ts";
import { EditKey } from "./edit-key.tsx";
import { EndPrevious, RevokeKey, RotateKey } from "./end-key.tsx";
import styles from "./key.module.css";
import { KeyFacts } from "./key-facts.tsx";
import { KeyRequests, KeyState } from "./key-parts.tsx";
import { KeysBelow } from "./keys-below.tsx";
import { BindingLimits } from "./limit-bar.tsx";
import { Recording, RecordingBadge } from "./recording.tsx";
import { Simulator } from "./simulator.tsx";
import { SnippetTabs } from "./snippet-tabs.tsx";

const route = getRouteApi("/shell/accounts/$account/keys/$key");

type OpenDialog = "edit" | "rotate" | "revoke" | "previous";

/** One key: what binds it, what it spends, and how to use it. */
export function KeyPage() {
  const { account, key } = route.useParams();
  const query = useQuery(keyQuery(account, key));
  const { data } = query;
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const mayChange = useMayChange();
  // "Raise the limit" of a refusal leads straight into the form.
  const [open, setOpen] = useState<OpenDialog | undefined>(tab === "edit" ? "edit" : undefined);
  const close = () => {
    setOpen(undefined);
    if (tab === "edit") void navigate({ search: withSearch({ tab: undefined }), replace: true });
  };
  return (
    <div className={styles.page}>
      <PageHeader
        title={data?.name ?? "Key"}
        badges={
          data && (
            <>
              <KeyState state={data.state} />
              <RecordingBadge account={account} shown={data} />
            </>
          )
        }
        note={data && <Origin shown={data} />}
        back={{ to: "/accounts/$account/keys", params: { account }, text: "Keys" }}
      >
        {data && <Actions shown={data} onOpen={setOpen} />}
      </PageHeader>
      <Loaded query={query}>{(data) => <Views account={account} shown={data} onOpen={setOpen} />}</Loaded>
      {data && mayChange(data) && <Dialogs account={account} shown={data} open={open} onClose={close} />}
    </div>
  );
}

interface DialogsProps {
  readonly account: string;
  readonly shown: KeyPageData;
  readonly open: OpenDialog | undefined;
  readonly onClose: () => void;
}

function Dialogs({ open, ...rest }: DialogsProps) {
  if (open === "edit") return <EditKey account={rest.account} opened={rest.shown} onClose={rest.onClose} />;
  if (open === "rotate") return <RotateKey {...rest} />;
  if (open === "previous") return <EndPrevious {...rest} />;
  return open === "revoke" && <RevokeKey {...rest} />;
}

function Origin({ shown: { hint, created_by, created_at } }: { readonly shown: KeyPageData }) {
  return (
    <span className={styles.note}>
      <code>{hint}</code>
      <span>
        made {created_by && `by ${created_by.name} `}on <Time at={created_at} as="date" />
      </span>
    </span>
  );
}

interface ActionsProps {
  readonly shown: KeyPageData;
  readonly onOpen: (dialog: OpenDialog) => void;
}

function Actions({ shown, onOpen }: ActionsProps) {
  const mayChange = useMayChange();
  const mayRotate = useMay("keys.rotate");
  if (!mayChange(shown) || shown.state === "revoked") return null;
  return (
    <>
      <Button onClick={() => onOpen("edit")}>Edit</Button>
      {mayRotate && (
        <Button icon="refresh" onClick={() => onOpen("rotate")}>
          Rotate
        </Button>
      )}
      <Menu
        label={`More for key ${shown.name}`}
        items={[{ text: "Revoke", icon: "refusal", isDanger: true, onSelect: () => onOpen("revoke") }]}
      />
    </>
  );
}

interface ViewsProps extends ActionsProps {
  readonly account: string;
}

function Views({ account, shown, onOpen }: ViewsProps) {
  const { tab = "overview" } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Tabs
      label="About this key"
      value={tab === "edit" ? "overview" : tab}
      onChange={(id) =>
        void navigate({
          search: withSearch({ tab: id === "overview" ? undefined : id }),
          replace: true,
        })
      }
      tabs={[
        {
          id: "overview",
          title: "Limits and traffic",
          content: <Traffic account={account} shown={shown} onOpen={onOpen} />,
        },
        {
          id: "snippets",
          title: "Use it",
          content: (
            <div className={styles.tab}>
              <Panel title="Snippets" note="With the address of this gateway and the models of this key.">
                <SnippetTabs account={account} models={shown.models} />
              </Panel>
            </div>
          ),
        },
        {
          id: "simulator",
          title: "Try other limits",
          content: (
            <div className={styles.tab}>
              <Simulator account={account} shown={shown} />
            </div>
          ),
        },
        {
          id: "bodies",
          title: "Request bodies",
          content: (
            <div className={styles.tab}>
              <Recording account={account} shown={shown} />
            </div>
          ),
        },
      ]}
    />
  );
}

function Traffic({ account, shown, onOpen }: ViewsProps) {
  const mayChange = useMayChange();
  const search = route.useSearch();
  const { tab: _, ...range } = search;
  return (
    <div className={styles.tab}>
      <div className={styles.columns}>
        <BindingLimits shown={shown} />
        <KeyFacts
          account={account}
          shown={shown}
          onEndPrevious={mayChange(shown) ? () => onOpen("previous") : undefined}
        />
      </div>
      <KeysBelow account={account} shown={shown} />
      <RangePicker usual="30d" />
      <CostChart account={account} search={range} apiKey={shown.id} />
      <KeyRequests account={account} apiKey={shown.id} />
    </div>
  );
}
