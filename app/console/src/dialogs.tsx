/**
 * Modal dialogs, and the typed confirmation of what cannot be undone.
 *
 * This module never runs the action itself.
 */
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Act, type Children, TextField } from "./ui";

/** A modal dialog. Escape and a click on its ground close it. */
export function Dialog({ title, onClose, children }: Children & { title: string; onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps extends Children {
  readonly title: string;
  /** The text to type. */
  readonly typed: string;
  readonly verb: string;
  onConfirm(): void;
  onClose(): void;
}

/** A dialog for what cannot be undone: the reader types the name of what is changed. */
export function Confirm({ title, typed, verb, onConfirm, onClose, children }: ConfirmProps) {
  const [text, setText] = useState("");
  const off = text === typed ? undefined : `Type ${typed} first.`;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (off === undefined) onConfirm();
        }}
      >
        {children}
        <TextField label={`Type ${typed} to confirm`} class="wide mono" value={text} onInput={setText} />
        <div class="bar end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <Act kind="danger" submits off={off}>
            {verb}
          </Act>
        </div>
      </form>
    </Dialog>
  );
}
