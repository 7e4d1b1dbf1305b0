import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ButtonLink } from "../../parts/button.tsx";
import { classes } from "../../parts/classes.ts";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Select } from "../../parts/select.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { setupQuery, useMay } from "../../session.ts";
import { type ModelRow, modelsQuery, useMayChange } from "../keys/queries.ts";
import { keyNamesQuery, type NamedKey } from "../overview/queries.ts";
import { Pane } from "./pane.tsx";
import styles from "./playground.module.css";
import { type Asked, Prompt } from "./prompt.tsx";
import { useChat } from "./use-chat.ts";

const route = getRouteApi("/shell/accounts/$account/playground");

/** A chat as one of the account's keys: the same limits, hold and receipt as a request with its secret. */
export function PlaygroundPage() {
  const { account } = route.useParams();
  const mayPlay = useMay("playground");
  const mayChange = useMayChange();
  const { data: keys, error, refetch } = useQuery(keyNamesQuery(account));
  const { data: catalog } = useQuery(modelsQuery(account));
  const usable = keys?.items.filter((key) => key.state === "active" && mayChange(key));
  const chats = catalog?.items.filter(({ max_output_tokens }) => max_output_tokens > 0);
  return (
    <div className={styles.page}>
      <PageHeader
        title="Playground"
        note="Each answer is a real request of the chosen key: it is held, charged and has a receipt."
      />
      {!mayPlay && (
        <Panel>
          <Empty icon="playground" title="Your role has no playground">
            A chat spends money of the account. Owners and developers may start one.
          </Empty>
        </Panel>
      )}
      {mayPlay && error && !keys && <ErrorPanel error={error} onRetry={() => void refetch()} />}
      {mayPlay && !error && (!usable || !chats) && <Skeleton shape="block" />}
      {mayPlay && usable && chats && <Ready account={account} keys={usable} models={chats} />}
    </div>
  );
}

interface ReadyProps {
  readonly account: string;
  readonly keys: readonly NamedKey[];
  readonly models: readonly ModelRow[];
}

function Ready({ account, keys, models }: ReadyProps) {
  const search = route.useSearch();
  const { data: setup } = useQuery(setupQuery);
  const [first, second] = [useChat(account), useChat(account)];
  const url = setup?.public_url ?? location.origin;
  const key = keys.find(({ id }) => id === search.key) ?? keys[0];
  const model = models.find(({ id }) => id === search.model)?.id ?? models[0]?.id;
  const other = models.find(({ id }) => id === search.other)?.id;
  if (!key || !model) return <NoKey account={account} />;
  const isRunning = first.isRunning || second.isRunning;
  const send = async (asked: Asked) => {
    const chats = [first.send({ ...asked, key: key.id, model })];
    if (other) chats.push(second.send({ ...asked, key: key.id, model: other }));
    return (await Promise.all(chats)).includes(true);
  };
  return (
    <>
      <Choices keys={keys} models={models} chosen={{ key: key.id, model, other: other ?? "" }} />
      <div className={classes(styles.panes, other && styles.two)}>
        <Pane account={account} model={model} url={url} chat={first} />
        {other && <Pane account={account} model={other} url={url} chat={second} />}
      </div>
      <Prompt
        isRunning={isRunning}
        isReady={!isRunning}
        hasAnswers={first.steps.length > 0}
        onSend={send}
        onStop={() => {
          first.stop();
          second.stop();
        }}
        onClear={() => {
          first.clear();
          second.clear();
        }}
      />
    </>
  );
}

interface ChoicesProps extends Pick<ReadyProps, "keys" | "models"> {
  readonly chosen: { readonly key: string; readonly model: string; readonly other: string };
}

function Choices({ keys, models, chosen }: ChoicesProps) {
  const navigate = route.useNavigate();
  const set = (name: keyof ChoicesProps["chosen"]) => (value: string) =>
    void navigate({ search: (all) => ({ ...all, [name]: value || undefined }), replace: true });
  const options = models.map(({ id }) => ({ value: id, text: id }));
  return (
    <div className={styles.choices}>
      <Select
        label="As key"
        value={chosen.key}
        options={keys.map(({ id, name }) => ({ value: id, text: name }))}
        onChange={set("key")}
      />
      <Select label="Model" value={chosen.model} options={options} onChange={set("model")} />
      <Select
        label="Beside"
        value={chosen.other}
        options={[{ value: "", text: "no second model" }, ...options]}
        onChange={set("other")}
      />
    </div>
  );
}

function NoKey({ account }: { readonly account: string }) {
  return (
    <Panel>
      <Empty
        icon="key"
        title="No key of yours is active"
        actions={
          <ButtonLink
            look="primary"
            icon="plus"
            to="/accounts/$account/keys"
            params={{ account }}
            search={{ create: "1" }}
          >
            Create a key
          </ButtonLink>
        }
      >
        A chat runs as a key, within its limits.
      </Empty>
    </Panel>
  );
}
