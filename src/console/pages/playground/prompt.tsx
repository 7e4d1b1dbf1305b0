import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { type Draft, keepDraft, readDraft } from "../../drafts.ts";
import { Button } from "../../parts/button.tsx";
import { Field, FieldRow, Form, type FormValues, readForm, TextArea } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { useMe } from "../../session.ts";
import { ImagePicker, takesImages, useImages } from "./images.tsx";
import { type Asked, readTools } from "./messages.ts";
import styles from "./playground.module.css";

interface PromptProps {
  readonly account: string;
  /** What a recorded request begins with. Default: the draft of this account. */
  readonly begun: Draft | undefined;
  readonly isRunning: boolean;
  readonly hasAnswers: boolean;
  /** Resolves with whether the request was admitted. A refused prompt stays to be sent again. */
  readonly onSend: (asked: Asked) => Promise<boolean>;
  readonly onStop: () => void;
  readonly onClear: () => void;
}

const FIRST = "Explain in two sentences what a gateway in front of language models does.";
const KEEP_AFTER_MS = 400;

/** The prompt with its images and settings. Ctrl+Enter sends. What is typed is kept as a draft. */
export function Prompt({ account, begun, isRunning, hasAnswers, onSend, onStop, onClear }: PromptProps) {
  const { draft, keep, keepNow } = useDraft(account, begun);
  const images = useImages();
  const area = useRef<HTMLTextAreaElement>(null);
  const [toolsProblem, setToolsProblem] = useState<string>();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const values = readForm(event);
    const tools = readTools(values.tools ?? "");
    setToolsProblem(typeof tools === "string" ? tools : undefined);
    if (isRunning || typeof tools === "string") return;
    const { prompt = "" } = values;
    const field = area.current;
    const sent = images.images;
    if (field) field.value = "";
    images.clear();
    void onSend(askedOf(values, { images: sent, tools })).then((isAdmitted) => {
      // What was typed meanwhile stays.
      if (!isAdmitted && field?.value === "") field.value = prompt;
      if (!isAdmitted) images.restore(sent);
      keepNow({ ...values, prompt: field?.value ?? "" });
    });
  };
  const sendByKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
  };
  return (
    <Panel>
      <Form onSubmit={submit} onInput={({ currentTarget }) => keep(currentTarget)}>
        <TextArea
          label="Prompt"
          name="prompt"
          ref={area}
          defaultValue={draft.prompt ?? FIRST}
          onKeyDown={sendByKey}
          {...takesImages(images)}
          hint="Ctrl+Enter sends. The conversation so far goes with it. Images may be pasted or dropped here."
          required
        />
        <ImagePicker images={images} />
        <Settings draft={draft} toolsProblem={toolsProblem} />
        <div className={styles.actions}>
          {isRunning ? (
            // The second click of a double click on "Send", which stood here, stops nothing.
            <Button icon="pause" onClick={({ detail }) => detail < 2 && onStop()}>
              Stop
            </Button>
          ) : (
            <Button type="submit" look="primary" icon="play">
              Send
            </Button>
          )}
          {hasAnswers && !isRunning && <Button onClick={onClear}>New conversation</Button>}
        </div>
      </Form>
    </Panel>
  );
}

const TOOL_EXAMPLE = '[{ "type": "function", "function": { "name": "look_up", "parameters": { … } } }]';

interface SettingsProps {
  readonly draft: Draft;
  readonly toolsProblem: string | undefined;
}

function Settings({ draft, toolsProblem }: SettingsProps) {
  const { system, tools, max_tokens, temperature } = draft;
  const isOpen = [system, tools, max_tokens, temperature].some(Boolean);
  return (
    <details className={styles.more} open={isOpen}>
      <summary>System prompt, tools, output limit, temperature</summary>
      <div className={styles.step}>
        <TextArea label="System prompt" name="system" defaultValue={system} isOptional />
        <TextArea
          label="Tools"
          name="tools"
          defaultValue={tools}
          error={toolsProblem}
          placeholder={TOOL_EXAMPLE}
          hint="A list in JSON, in OpenAI's form. The calls of the model are shown, and you type in what they return."
          spellCheck={false}
          isOptional
        />
        <FieldRow>
          <Field
            label="Most output tokens"
            name="max_tokens"
            type="number"
            min={1}
            max={10_000_000}
            placeholder="the model's default"
            defaultValue={max_tokens}
          />
          <Field
            label="Temperature"
            name="temperature"
            type="number"
            min={0}
            max={2}
            step={0.1}
            placeholder="the model's default"
            defaultValue={temperature}
          />
        </FieldRow>
      </div>
    </details>
  );
}

function askedOf(values: FormValues, { images, tools }: Pick<Asked, "images" | "tools">): Asked {
  const { system = "", prompt = "", max_tokens = "", temperature = "" } = values;
  return {
    system,
    prompt,
    images,
    tools,
    ...(max_tokens !== "" && { max_tokens: Number(max_tokens) }),
    ...(temperature !== "" && { temperature: Number(temperature) }),
  };
}

/** The draft of this person and account, kept a moment after the latest input. A recorded request is no draft. */
function useDraft(account: string, begun: Draft | undefined) {
  const { person } = useMe();
  const owner = { person: person.id, account };
  const [draft] = useState(() => begun ?? readDraft(owner));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const keepNow = ({ prompt, system, tools, max_tokens, temperature }: FormValues) => {
    clearTimeout(timer.current);
    if (begun) return;
    const isUntouched = prompt === FIRST && !system && !tools && !max_tokens && !temperature;
    const typed = { prompt, system, tools, max_tokens, temperature };
    // The first prompt comes back when nothing is left of a draft.
    const kept = Object.entries(typed).filter(([, text]) => text);
    keepDraft(owner, isUntouched ? {} : Object.fromEntries(kept));
  };
  const keep = (form: HTMLFormElement) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => keepNow(textsOf(form)), KEEP_AFTER_MS);
  };
  return { draft, keep, keepNow };
}

function textsOf(form: HTMLFormElement): FormValues {
  const entries = [...new FormData(form)];
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
}
