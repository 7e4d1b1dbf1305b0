import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { plural } from "../../format.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { classes } from "../../parts/classes.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Select } from "../../parts/filters.tsx";
import { Empty, ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { useMayChange } from "../../queries/keys.ts";
import { catalogQuery, isChat, keyNamesQuery, type ModelRow, type NamedKey } from "../../queries/overview.ts";
import { openedRecordingQuery } from "../../queries/recordings.ts";
import { setupQuery, useMay } from "../../session.ts";
import { type Beginning, readBeginning } from "./from-recording.ts";
import type { Asked, Message } from "./messages.ts";
import { Pane } from "./pane.tsx";
import styles from "./playground.module.css";
import { Prompt } from "./prompt.tsx";
import { useChat } from "./use-chat.ts";

const route = getRouteApi("/shell/accounts/$account/playground");

/** A chat as one of the account's keys: the same limits, hold and receipt as a request with its secret. */
export function PlaygroundPage() {
  const { account } = route.useParams();
  const mayPlay = useMay("playground");
  const mayChange = useMayChange();
  const { data: keys, error, refetch } = useQuery(keyNamesQuery(account));
  const { data: catalog } = useQuery(catalogQuery(account));
  const usable = keys?.items.filter((key) => key.state === "active" && mayChange(key));
  const chats = catalog?.items.filter(isChat);
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

function Ready(props: ReadyProps) {
  const { from } = route.useSearch();
  if (from !== undefined) return <FromRequest key={from} {...props} request={from} />;
  return <Conversation key={props.account} {...props} />;
}

/** Begins with the bodies of a request, which reads them once. */
function FromRequest({ request, ...props }: ReadyProps & { readonly request: string }) {
  const { data, error, refetch } = useQuery(openedRecordingQuery(props.account, request));
  if (error) return <ErrorPanel error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton shape="block" />;
  const beginning = data.content ? readBeginning(data.content) : undefined;
  if (beginning) return <Conversation {...props} beginning={beginning} />;
  return (
    <Panel>
      <Empty icon="requests" title="This request cannot be opened here">
        Its bodies are unreadable or cut, or no conversation by themselves: one that continues an earlier
        response has its beginning there.
      </Empty>
    </Panel>
  );
}

function Conversation({ account, keys, models, beginning }: ReadyProps & { readonly beginning?: Beginning }) {
  const search = route.useSearch();
  const { data: setup } = useQuery(setupQuery);
  const given = beginning?.given ?? [];
  const [first, second] = [useChat(account, given), useChat(account, given)];
  const url = setup?.public_url ?? location.origin;
  const key = keys.find(({ id }) => id === search.key) ?? keys[0];
  const wanted = search.model ?? beginning?.model;
  const model = models.find(({ id }) => id === wanted)?.id ?? models[0]?.id;
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
      {given.length > 0 && <Given messages={given} />}
      <div className={classes(styles.panes, other && styles.two)}>
        <Pane account={account} model={model} url={url} chat={first} />
        {other && <Pane account={account} model={other} url={url} chat={second} />}
      </div>
      <Prompt
        account={account}
        begun={beginning?.draft}
        isRunning={isRunning}
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

/** The messages of a recorded request, before its question. */
function Given({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <details className={styles.more}>
      <summary>{plural(messages.length, "message")} of the recorded request</summary>
      <CodeBlock
        label="messages of the recorded request"
        code={JSON.stringify(messages, undefined, 2)}
        isWrapped
      />
    </details>
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
