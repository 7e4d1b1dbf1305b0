import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type KeyboardEvent, useRef } from "react";
import { readForm } from "../../form-values.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Select } from "../../parts/select.tsx";
import { setupQuery } from "../../session.ts";
import { keysQuery, modelsQuery, useMayChange } from "../keys/queries.ts";
import { quoteForShell } from "../keys/snippets.ts";
import type { Chat } from "./events.ts";
import { Pane } from "./pane.tsx";
import styles from "./playground.module.css";
import { useChat } from "./use-chat.ts";

const route = getRouteApi("/shell/accounts/$account/playground");
const FIRST_PROMPT = "Explain in two sentences what a prepaid wallet is good for.";
const NONE = "none";

/** A streamed chat with any model, paid by one of the account's keys. */
export function PlaygroundPage() {
  const { account } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayUse = useMayChange();
  const { data: keys } = useQuery(keysQuery(account));
  const { data: models } = useQuery(modelsQuery(account));
  const left = useChat(account);
  const right = useChat(account);
  const usable = (keys?.items ?? []).filter((key) => key.state === "active" && mayUse(key));
  const key = usable.find(({ id }) => id === search.key) ?? usable[0];
  const chats = (models?.items ?? []).filter(({ surfaces }) => surfaces.includes("chat"));
  const model = chats.find(({ id }) => id === search.model)?.id ?? chats[0]?.id;
  const other = chats.find(({ id }) => id === search.other)?.id;
  const set = (name: "key" | "model" | "other", value: string) =>
    void navigate({
      search: (all) => ({ ...all, [name]: value === NONE ? undefined : value }),
      replace: true,
    });
  const ask = (prompt: string) => {
    if (!key || !model) return;
    const request = { key: key.id, maxTokens: undefined };
    void left.send(prompt, left.chat, { ...request, model });
    if (other) void right.send(prompt, right.chat, { ...request, model: other });
  };
  const isRunning = left.chat.isRunning || right.chat.isRunning;
  return (
    <div className={styles.page}>
      <PageHeader
        title="Playground"
        note="Requests here are real: the key pays, its limits hold, a receipt stays."
      >
        <Button
          disabled={isRunning || left.chat.messages.length === 0}
          onClick={() => {
            left.clear();
            right.clear();
          }}
        >
          New conversation
        </Button>
      </PageHeader>
      {keys && !key && <NoKey account={account} />}
      {key && model && (
        <>
          <div className={styles.choices}>
            <Select
              label="Key"
              value={key.id}
              options={usable.map(({ id, name }) => ({ value: id, text: name }))}
              onChange={(value) => set("key", value)}
            />
            <Select
              label="Model"
              value={model}
              options={chats.map(({ id }) => ({ value: id, text: id }))}
              onChange={(value) => set("model", value)}
            />
            <Select
              label="Beside"
              value={other ?? NONE}
              options={[
                { value: NONE, text: "no second model" },
                ...chats.map(({ id }) => ({ value: id, text: id })),
              ]}
              onChange={(value) => set("other", value)}
            />
          </div>
          <div className={styles.panes} data-count={other ? 2 : 1}>
            <Conversation account={account} model={model} chat={left.chat} />
            {other && <Conversation account={account} model={other} chat={right.chat} />}
          </div>
          <Prompt
            isFirst={left.chat.messages.length === 0}
            isRunning={isRunning}
            onAsk={ask}
            onStop={() => {
              left.stop();
              right.stop();
            }}
          />
        </>
      )}
    </div>
  );
}

function Conversation({
  account,
  model,
  chat,
}: {
  readonly account: string;
  readonly model: string;
  readonly chat: Chat;
}) {
  const { data: setup } = useQuery(setupQuery);
  const messages = chat.messages.length > 0 ? chat.messages : [{ role: "user", content: FIRST_PROMPT }];
  const body = JSON.stringify({ model, stream: true, messages });
  const curl = `curl -N ${setup?.public_url ?? location.origin}/v1/chat/completions \\
  -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H "content-type: application/json" \\
  -d ${quoteForShell(body)}`;
  return <Pane account={account} model={model} chat={chat} curl={curl} />;
}

interface PromptProps {
  readonly isFirst: boolean;
  readonly isRunning: boolean;
  readonly onAsk: (prompt: string) => void;
  readonly onStop: () => void;
}

/** Enter sends; Shift and Enter begins a new line. */
function Prompt({ isFirst, isRunning, onAsk, onStop }: PromptProps) {
  const form = useRef<HTMLFormElement>(null);
  const sendOnEnter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    form.current?.requestSubmit();
  };
  return (
    <form
      ref={form}
      className={styles.prompt}
      onSubmit={(event) => {
        const text = (readForm(event).prompt ?? "").trim();
        if (text === "" || isRunning) return;
        onAsk(text);
        form.current?.reset();
      }}
    >
      <label className={styles.promptLabel}>
        <span>Message</span>
        <textarea
          key={isFirst ? "first" : "next"}
          name="prompt"
          rows={2}
          defaultValue={isFirst ? FIRST_PROMPT : ""}
          placeholder="Go on…"
          onKeyDown={sendOnEnter}
        />
      </label>
      {isRunning ? (
        <Button onClick={onStop}>Stop</Button>
      ) : (
        <Button type="submit" look="primary">
          Send
        </Button>
      )}
    </form>
  );
}

function NoKey({ account }: { readonly account: string }) {
  return (
    <Empty
      icon="key"
      title="A key pays for each request"
      actions={
        <ButtonLink icon="plus" to="/accounts/$account/keys" params={{ account }} search={{ create: "1" }}>
          Create a key
        </ButtonLink>
      }
    >
      There is none that you may use.
    </Empty>
  );
}
