import { type FormEvent, type KeyboardEvent, useRef } from "react";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { Field, FieldRow, Form, TextArea } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "./playground.module.css";

/** What is asked, beside key and model. */
export interface Asked {
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
export function Prompt({ isRunning, isReady, hasAnswers, onSend, onStop, onClear }: PromptProps) {
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
