/** The frame around every editor: undo, JSON, problems, saving. What is drawn inside is the dialect's own. */

import { useEffect, useState } from "react";
import { currentNamespace } from "../../api/namespace";
import type { Json } from "../../api/types";
import { Button, IconButton, LinkButton } from "../../components/Button";
import { JsonEditor } from "../../components/JsonEditor";
import { allows, useMe } from "../../shell/me";
import { Link, navigate, useQuery } from "../../shell/router";
import { toast } from "../../shell/toasts";
import { definitionPath } from "../definitions/versions";
import { ConflictDialog } from "./ConflictDialog";
import type { Loaded, Source } from "./documents";
import type { DialectEditor } from "./editors";
import { Problems } from "./Problems";
import { SaveDialog } from "./SaveDialog";
import { type Checked, useCheck } from "./use-check";
import { type Document, useDocument } from "./use-document";
import { useEditorKeys } from "./use-editor-keys";

interface Props {
  source: Source;
  loaded: Loaded;
  dialect: string;
  editor: DialectEditor;
}

const VIEWS = [
  ["graph", "Graph"],
  ["both", "Both"],
  ["json", "JSON"],
] as const;
type View = (typeof VIEWS)[number][0];

export function Editor({ source, loaded, dialect, editor }: Props) {
  const memory = `${currentNamespace() ?? ""} ${source.kind} ${source.name ?? dialect}`;
  const document = useDocument(memory, loaded);
  const checked = useCheck(dialect, document.value, source.kind !== "new" || document.dirty);
  const [asked, setAsked] = useState<Asked>();
  const [aim, setAim] = useState<{ pointer: string }>();
  const [query, setQuery] = useQuery();
  const view = VIEWS.find(([name]) => name === query.get("view"))?.[0] ?? "graph";
  const save = () => document.dirty && setAsked("save");
  useEditorKeys({ undo: document.undo, redo: document.redo, save });
  useUnsavedWarning(document.dirty);
  const saved = (next: Loaded, name: string) => {
    setAsked(undefined);
    document.rebase(next, document.value);
    const what = source.kind === "run" ? `Patched: revision ${next.at}` : `Saved ${name} ${next.at}`;
    toast({ kind: "ok", text: what });
    if (source.kind === "new") navigate(`${definitionPath(name)}/edit`, { replace: true });
  };
  return (
    <div className="ed">
      <Head source={source} document={document} checked={checked} noun={editor.noun} onSave={save}>
        <ViewSwitch
          view={view}
          drawn={editor.view}
          onView={(next) => setQuery({ view: next === "graph" ? undefined : next })}
        />
      </Head>
      <div className={`ed-body view-${view}`}>
        {view !== "json" && (
          <editor.Canvas
            value={document.value}
            onChange={document.change}
            problems={checked.problems}
            aim={aim}
            memory={memory}
            name={source.kind === "definition" ? source.name : undefined}
          />
        )}
        {view !== "graph" && (
          <div className="ed-json">
            <JsonEditor
              label="Definition (JSON)"
              value={document.text}
              onChange={document.setText}
              problems={checked.problems}
              rows={24}
            />
          </div>
        )}
      </div>
      {view === "graph" && <Problems checked={checked} onAim={(pointer) => setAim({ pointer })} />}
      <Dialogs asked={asked} onAsk={setAsked} source={source} document={document} onSaved={saved} />
    </div>
  );
}

/** Saving, or what somebody else has saved meanwhile. */
type Asked = "save" | Loaded | undefined;

interface DialogsProps {
  asked: Asked;
  onAsk: (asked: Asked) => void;
  source: Source;
  document: Document;
  onSaved: (saved: Loaded, name: string) => void;
}

function Dialogs({ asked, onAsk, source, document, onSaved }: DialogsProps) {
  const close = () => onAsk(undefined);
  if (asked === undefined) return null;
  if (asked === "save") {
    return <SaveDialog source={source} document={document} onClose={close} onSaved={onSaved} onStale={onAsk} />;
  }
  const take = (value: Json) => {
    document.rebase(asked, value);
    close();
  };
  return <ConflictDialog theirs={asked} document={document} onClose={close} onTake={take} />;
}

interface HeadProps {
  source: Source;
  document: Document;
  checked: Checked;
  noun: string;
  onSave: () => void;
  children: React.ReactNode;
}

function Head({ source, document, checked, noun, onSave, children }: HeadProps) {
  const may = allows(useMe(), "editor");
  const { name, kind } = source;
  const why = may ? hint(document, checked) : "Saving requires the editor role";
  return (
    <header className="ed-head">
      <Crumbs source={source} noun={noun} />
      {document.base.at !== undefined && (
        <span className="chip">{kind === "run" ? `revision ${document.base.at}` : document.base.at}</span>
      )}
      {document.dirty && <span className="chip ed-dirty">unsaved changes</span>}
      <span className="grow" />
      {children}
      <IconButton icon="undo" label="Undo (Ctrl+Z)" disabled={!document.undo} onClick={document.undo} />
      <IconButton icon="redo" label="Redo (Ctrl+Shift+Z)" disabled={!document.redo} onClick={document.redo} />
      {kind === "definition" && name !== undefined && !document.dirty && (
        <LinkButton to={`/runs/new?definition=${encodeURIComponent(name)}`} icon="play">
          Run it
        </LinkButton>
      )}
      <Button
        look="primary"
        icon="check"
        title={why}
        disabled={!may || !document.dirty || document.broken}
        onClick={onSave}
      >
        {kind === "run" ? "Patch the run" : "Save"}
      </Button>
    </header>
  );
}

/** What saving would do, or why there is nothing to save. */
function hint({ broken, dirty }: Document, { problems }: Checked): string {
  if (broken) return "The text is no JSON";
  if (!dirty) return "No changes";
  return problems.some(({ warning }) => !warning) ? "There are errors" : "Save (Ctrl+S)";
}

function Crumbs({ source: { kind, name }, noun }: { source: Source; noun: string }) {
  const ofRun = kind === "run";
  return (
    <div className="row ed-crumbs">
      <Link className="text" to={ofRun ? `/runs/${encodeURIComponent(name ?? "")}?tab=changes` : "/definitions"}>
        {ofRun ? "Run" : "Definitions"}
      </Link>
      <span className="faint">/</span>
      <h1 className="clip">
        {kind === "definition" && name !== undefined ? (
          <Link to={definitionPath(name)} title={`Back to ${name}`}>
            {name}
          </Link>
        ) : (
          (name ?? `New ${noun}`)
        )}
      </h1>
    </div>
  );
}

function ViewSwitch({ view, drawn, onView }: { view: View; drawn: string; onView: (view: View) => void }) {
  return (
    <fieldset className="ed-views">
      <legend className="visually-hidden">View</legend>
      {VIEWS.map(([name, label]) => (
        <Button key={name} look="ghost" className="small" aria-pressed={view === name} onClick={() => onView(name)}>
          {name === "graph" ? drawn : label}
        </Button>
      ))}
    </fieldset>
  );
}

/** Leaving the page would lose them. */
function useUnsavedWarning(dirty: boolean) {
  useEffect(() => {
    if (!dirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [dirty]);
}
