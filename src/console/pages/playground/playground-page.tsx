import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, useRef } from "react";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { classes } from "../../parts/classes.ts";
import { Field, FieldRow, Form, readForm, TextArea } from "../../parts/field.tsx";
import { Select } from "../../parts/filters.tsx";
import { Empty, ErrorPanel, Skeleton } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import { useMayChange } from "../../queries/keys.ts";
import { catalogQuery, keyNamesQuery, type ModelRow, type NamedKey } from "../../queries/overview.ts";
import { setupQuery, useMay } from "../../session.ts";
import { Pane } from "./pane.tsx";
import styles from "./playground.module.css";
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

/** What is asked, beside key and model. */
interface Asked {
  readonly system: string;
  readonly prompt: string;
  readonly max_tokens?: number;
  readonly temperature?: number;
}

interface PromptProps {
  readonly isRunning: boolean;
  readonly isReady: boolean;
  readonly hasAnswers: boolean;
  /** Resolves with whether the request was admitted. A refused prompt stays to be sent again. */
  readonly onSend: (asked: Asked) => Promise<boolean>;
  readonly onStop: () => void;
  readonly onClear: () => void;
}

const FIRST = "Explain in two sentences what a gateway in front of language models does.";

/** The prompt with its settings. Ctrl+Enter sends. */
function Prompt({ isRunning, isReady, hasAnswers, onSend, onStop, onClear }: PromptProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const { system = "", prompt = "", max_tokens = "", temperature = "" } = readForm(event);
    if (isRunning || !isReady) return;
    const asked = {
      system,
      prompt,
      ...(max_tokens !== "" && { max_tokens: Number(max_tokens) }),
      ...(temperature !== "" && { temperature: Number(temperature) }),
    };
    const field = area.current;
    if (field) field.value = "";
    void onSend(asked).then((isAdmitted) => {
      // What was typed meanwhile stays.
      if (!isAdmitted && field?.value === "") field.value = prompt;
    });
  };
  const sendByKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
  };
  return (
    <Panel>
      <Form onSubmit={submit}>
        <TextArea
          label="Prompt"
          name="prompt"
          ref={area}
          defaultValue={FIRST}
          onKeyDown={sendByKey}
          hint="Ctrl+Enter sends. The conversation so far goes with it."
          required
        />
        <details className={styles.more}>
          <summary>System prompt, output limit, temperature</summary>
          <div className={styles.step}>
            <TextArea label="System prompt" name="system" isOptional />
            <FieldRow>
              <Field
                label="Most output tokens"
                name="max_tokens"
                type="number"
                min={1}
                max={10_000_000}
                placeholder="the model's default"
              />
              <Field
                label="Temperature"
                name="temperature"
                type="number"
                min={0}
                max={2}
                step={0.1}
                placeholder="the model's default"
              />
            </FieldRow>
          </div>
        </details>
        <div className={styles.actions}>
          {isRunning ? (
            // The second click of a double click on "Send", which stood here, stops nothing.
            <Button icon="pause" onClick={({ detail }) => detail < 2 && onStop()}>
              Stop
            </Button>
          ) : (
            <Button type="submit" look="primary" icon="play" disabled={!isReady}>
              Send
            </Button>
          )}
          {hasAnswers && !isRunning && <Button onClick={onClear}>New conversation</Button>}
        </div>
      </Form>
    </Panel>
  );
}
