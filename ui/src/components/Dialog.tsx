/** A modal dialog on the platform's <dialog>: focus stays inside, Escape closes, focus returns to where it was. */

import { type FormEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { KeyDepth, useKeyLayer } from "../shell/keys";
import { IconButton } from "./Button";
import "./dialog.css";

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Buttons; with `onSubmit` they stand inside the form. */
  footer?: ReactNode;
  onSubmit?: () => void;
  wide?: boolean;
}

export function Dialog({ title, onClose, children, footer, onSubmit, wide = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const depth = useKeyLayer();
  useEffect(() => {
    const before = document.activeElement;
    const dialog = ref.current;
    dialog?.showModal?.();
    const first = dialog?.querySelector<HTMLElement>("[data-autofocus], .dialog-body :is(input, textarea, select)");
    first?.focus();
    return () => {
      dialog?.close?.();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit?.();
  };
  const inner = (
    <>
      <div className="dialog-body">{children}</div>
      {footer && <footer className="dialog-foot">{footer}</footer>}
    </>
  );
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does what a click beside the dialog does
    <dialog
      ref={ref}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <KeyDepth value={depth}>
        <div className="dialog-box">
          <header className="dialog-head">
            <h2 id={titleId}>{title}</h2>
            <IconButton icon="close" label="Close" onClick={onClose} />
          </header>
          {onSubmit ? <form onSubmit={submit}>{inner}</form> : inner}
        </div>
      </KeyDepth>
    </dialog>
  );
}
